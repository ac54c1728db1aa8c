import { CallState, type Client, EndReason, Status } from '@switchhook/client'
import type { SceneContext } from './scenes.ts'
import type { Arrival, Subscriber } from './subscriber.ts'
import { verify, verifySame } from './verify.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CUSTOMER = '+15559000'

const { alerting, connected, held, ended } = CallState
const { available, onThePhone, afterCallWork, lunch } = { ...Status, lunch: 66 }

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
  verify(left?.envelope.data.endReason === EndReason.transferred, "alice's leg ends with reason transferred")
  await desk.leg(callId, BOB, connected)
  const states = [alerting, connected, held, connected, held, held, ended]
  verifySame(desk.states(callId, ALICE), states, "every state of alice's leg arrives")
  screen.verified('ringing, connected, held, connected, consultation, transferred: the call id stayed the same')

  await api.calls.hangup(callId, { agentUri: BOB })
  await desk.leg(callId, BOB, ended)
  await desk.agent(ALICE, afterCallWork)
  await desk.agent(ALICE, lunch)
  const statuses = [onThePhone, afterCallWork, lunch]
  verifySame(desk.statusesSince(ALICE, onThePhone), statuses, "alice's status follows the call")
  screen.verified('alice: on the phone, after-call work, then lunch, which was set during the call')
  await api.agents.setPresence(ALICE, { statusCode: String(available) })
  await api.subscriptions.delete(id)
}

async function setDuringTheCall(api: Client): Promise<void> {
  const { statusCode, pendingStatusCode } = await api.agents.setPresence(ALICE, {
    statusCode: String(lunch),
    message: 'at last',
  })
  const isPending = statusCode === onThePhone && pendingStatusCode === lunch
  verify(isPending, 'a status set during a call is pending until the call ends')
}

const isOf = ({ path, event, envelope }: Arrival, type: string, agentUri: string): boolean =>
  path === '/desk' && event === type && envelope.data.agentUri === agentUri
const isOfLeg = (arrival: Arrival, callId: string, agentUri: string): boolean =>
  isOf(arrival, 'call.status', agentUri) && arrival.envelope.data.callId === callId

/** The webhooks that arrive at `/desk`, by leg and by agent. */
function follow(subscriber: Subscriber) {
  const dataOf = (isOne: (arrival: Arrival) => boolean) =>
    subscriber
      .arrivals()
      .filter(isOne)
      .map(({ envelope }) => envelope.data)
      .toSorted((one, other) => one.sequence - other.sequence)

  return {
    /** Resolves to the last of so many webhooks with this state. */
    leg: async (callId: string, agentUri: string, state: number, times = 1): Promise<Arrival | undefined> => {
      const isOne = (arrival: Arrival): boolean =>
        isOfLeg(arrival, callId, agentUri) && arrival.envelope.data.state === state
      return (await subscriber.waitFor(`state ${state} of ${agentUri} arrives`, times, isOne)).at(-1)
    },
    agent: async (agentUri: string, statusCode: number): Promise<void> => {
      const isOne = (arrival: Arrival): boolean =>
        isOf(arrival, 'agent.status', agentUri) && arrival.envelope.data.statusCode === statusCode
      await subscriber.waitFor(`${agentUri} gets the status ${statusCode}`, 1, isOne)
    },
    states: (callId: string, agentUri: string): readonly number[] =>
      dataOf((arrival) => isOfLeg(arrival, callId, agentUri)).map(({ state }) => state),
    /** The status changes from the first one to this code on. */
    statusesSince: (agentUri: string, first: number): readonly number[] => {
      const all = dataOf((arrival) => isOf(arrival, 'agent.status', agentUri)).map(({ statusCode }) => statusCode)
      const since = all.slice(all.indexOf(first))
      return since.filter((statusCode, index) => statusCode !== since[index - 1])
    },
  }
}
