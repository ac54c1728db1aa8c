import type { Client } from '@switchhook/client'
import type { SceneContext } from './scenes.ts'
import type { Arrival, Subscriber } from './subscriber.ts'
import { verify, verifySame } from './verify.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CUSTOMER = '+15559000'

/** `call.status` states, `agent.status` codes. */
const { alerting, connected, held, ended } = { alerting: 2, connected: 3, held: 4, ended: 7 }
const { available, onThePhone, lunch, afterCallWork } = { available: 2, onThePhone: 50, lunch: 66, afterCallWork: 146 }
const TRANSFERRED = 9

/** A customer calls alice, who answers, holds, resumes, and transfers the call to bob after a consultation. */
export async function aCustomerIsTransferred({ api, subscriber, screen, customer }: SceneContext): Promise<void> {
  screen.scene('A customer calls; the agent answers, holds, resumes and consults a colleague')
  const { id } = await api.subscriptions.create({
    url: subscriber.url('/desk'),
    eventTypes: ['call.status', 'agent.status'],
  })
  const desk = follow(subscriber)
  const callId = await customer.calls(ALICE, CUSTOMER)
  await desk.leg(callId, ALICE, alerting)
  await api.calls.answer(callId, { agentUri: ALICE })
  await desk.leg(callId, ALICE, connected)
  await desk.agent(ALICE, onThePhone)
  await setDuringTheCall(api)
  await api.calls.hold(callId, { agentUri: ALICE })
  await desk.leg(callId, ALICE, held)
  await api.calls.resume(callId, { agentUri: ALICE })
  await desk.leg(callId, ALICE, connected, 2)

  const { consultationCallId = '' } = await api.calls.transfer(callId, { agentUri: ALICE, transferTarget: BOB })
  await desk.leg(consultationCallId, BOB, alerting)
  await api.calls.answer(consultationCallId, { agentUri: BOB })
  await desk.leg(consultationCallId, ALICE, connected)
  screen.scene('The same transfer request again completes the transfer')
  await api.calls.transfer(callId, { agentUri: ALICE, transferTarget: BOB })
  const left = await desk.leg(callId, ALICE, ended)
  verify(left.envelope.data.endReason === TRANSFERRED, "alice's leg ends with reason transferred")
  await desk.leg(callId, BOB, connected)
  verifySame(desk.states(callId, ALICE), [2, 3, 4, 3, 4, 4, 7], "every state of alice's leg arrives")
  screen.verified('ringing, connected, held, connected, consultation, transferred: the call id stayed the same')

  await api.calls.hangup(callId, { agentUri: BOB })
  await desk.leg(callId, BOB, ended)
  await desk.agent(ALICE, afterCallWork)
  await desk.agent(ALICE, lunch)
  verifySame(
    desk.statusesSince(ALICE, onThePhone),
    [onThePhone, afterCallWork, lunch],
    "alice's status follows the call",
  )
  screen.verified('alice: on the phone, after-call work, then lunch, which was set during the call')
  await api.agents.setPresence(ALICE, { statusCode: String(available) })
  await api.subscriptions.delete(id)
}

async function setDuringTheCall(api: Client): Promise<void> {
  const { statusCode, pendingStatusCode } = await api.agents.setPresence(ALICE, {
    statusCode: String(lunch),
    message: 'at last',
  })
  verify(
    statusCode === onThePhone && pendingStatusCode === lunch,
    'a status set during a call is pending until the call ends',
  )
}

const ofLeg = (callId: string, agentUri: string) => (arrival: Arrival) =>
  isOf(arrival, 'call.status') && arrival.envelope.data.callId === callId && arrival.envelope.data.agentUri === agentUri
const ofAgent = (agentUri: string) => (arrival: Arrival) =>
  isOf(arrival, 'agent.status') && arrival.envelope.data.agentUri === agentUri

/** The webhooks that arrive at `/desk`, by leg and by agent. */
function follow(subscriber: Subscriber) {
  const eventsOf = (isOne: (arrival: Arrival) => boolean) =>
    subscriber
      .arrivals('/desk')
      .filter(isOne)
      .toSorted((one, other) => one.envelope.data.sequence - other.envelope.data.sequence)

  return {
    async leg(callId: string, agentUri: string, state: number, times = 1): Promise<Arrival> {
      const isOne = ofLeg(callId, agentUri)
      const arrivals = await subscriber.waitFor(
        `state ${state} of ${agentUri} arrives`,
        times,
        (arrival) => isOne(arrival) && arrival.envelope.data.state === state,
      )
      const last = arrivals.at(-1)
      if (last === undefined) throw new Error('waitFor resolved without an arrival')
      return last
    },
    async agent(agentUri: string, statusCode: number): Promise<void> {
      const isOne = ofAgent(agentUri)
      await subscriber.waitFor(
        `${agentUri} gets the status ${statusCode}`,
        1,
        (arrival) => isOne(arrival) && arrival.envelope.data.statusCode === statusCode,
      )
    },
    states: (callId: string, agentUri: string) =>
      eventsOf(ofLeg(callId, agentUri)).map(({ envelope }) => envelope.data.state),
    /** The status changes from the first one to this code on. */
    statusesSince(agentUri: string, first: number): readonly number[] {
      const all = eventsOf(ofAgent(agentUri)).map(({ envelope }) => envelope.data.statusCode)
      const since = all.slice(all.indexOf(first))
      return since.filter((statusCode, index) => statusCode !== since[index - 1])
    },
  }
}

const isOf = ({ path, event }: Arrival, type: string): boolean => path === '/desk' && event === type
