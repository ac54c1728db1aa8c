import { CallState, type Client, EndReason, type Schemas } from '@switchhook/client'
import { waitUntil } from '@switchhook/test-servers'
import type { Customer } from './customer.ts'
import type { Screen } from './screen.ts'
import type { Arrival, Subscriber } from './subscriber.ts'
import { verify, verifySame } from './verify.ts'

export interface SceneContext {
  readonly api: Client
  readonly subscriber: Subscriber
  readonly screen: Screen
  /** The retry schedule of the workers. */
  readonly waitsMs: readonly number[]
  readonly customer: Customer
  /** The lines that `switchhook explain` prints. */
  readonly explain: (deliveryId: string) => Promise<readonly string[]>
}

const ALICE = 'sip:alice@acme.example'
const STATUSES: Readonly<Record<number, string>> = {
  2: 'available',
  50: 'on the phone',
  66: 'lunch',
  146: 'after call',
}
const LONG_WAIT_MS = 15_000
/** From the answer to the record of it. */
const SETTLES_WITHIN_MS = 10_000

/** Dials, waits for the answer and hangs up: the client's endpoint receives every state. */
export async function aCallIsFollowed({ api, subscriber, screen }: SceneContext): Promise<void> {
  screen.scene('A client subscribes to call events')
  const { id, secret } = await api.subscriptions.create({ url: subscriber.url('/calls'), eventTypes: ['call.status'] })

  screen.scene('An agent dials a number that answers')
  const { callId } = await api.calls.dial({ agentUri: ALICE, destination: '+15550100' })
  const isOfCall = ({ path, envelope }: Arrival): boolean => path === '/calls' && envelope.data.callId === callId
  const isConnected = (arrival: Arrival): boolean => isOfCall(arrival) && stateOf(arrival) === 'connected'
  await subscriber.waitFor('the call is connected', 1, isConnected)
  await api.calls.hangup(callId, { agentUri: ALICE })
  const arrivals = await subscriber.waitFor('four webhooks about the call', 4, isOfCall)

  const ordered = arrivals.toSorted((one, other) => one.envelope.data.sequence - other.envelope.data.sequence)
  verifySame(ordered.map(stateOf), ['initiated', 'proceeding', 'connected', 'ended'], 'each state of the call arrives')
  const sequence = ordered.map(({ envelope }) => envelope.data.sequence)
  verifySame(sequence, [1, 2, 3, 4], 'the sequence has no gap')
  verify(ordered.every(hasRightHeaders), 'the X-SVC headers match the body')
  const attempts = ordered.map(({ attempt }) => attempt)
  verifySame(attempts, [1, 1, 1, 1], 'each webhook arrives at the first attempt')
  screen.verified('initiated, proceeding, connected, ended: one webhook each, sequence 1 to 4, headers as specified')
  const areSigned = ordered.every(({ isSignedBy }) => isSignedBy(secret))
  verify(areSigned, 'each webhook is signed with the secret of its subscription')
  screen.verified('each webhook is signed with the secret that was shown once, when the subscription was created')
  await api.subscriptions.delete(id)
}

/** One endpoint fails for a while and one answers 410; the third is not affected. */
export async function anEndpointFails({ api, subscriber, screen, waitsMs }: SceneContext): Promise<{
  readonly parked: Schemas['DeliverySummary']
  readonly subscriptionIds: readonly string[]
}> {
  screen.scene('Three endpoints: one healthy, one failing for a moment, one gone')
  // Shows a second retry only if its wait is short.
  const failures = (waitsMs[1] ?? Number.POSITIVE_INFINITY) <= LONG_WAIT_MS ? 2 : 1
  subscriber.behave('/flaky', (post) => (stateOf(post) === 'ended' && post.attempt <= failures ? 503 : 204))
  subscriber.behave('/gone', (post) => (stateOf(post) === 'ended' ? 410 : 204))
  const subscribe = (path: string) =>
    api.subscriptions.create({ url: subscriber.url(path), eventTypes: ['call.status'] })
  const works = await subscribe('/healthy')
  const fails = await subscribe('/flaky')
  const gone = await subscribe('/gone')

  screen.scene('An agent dials a busy number')
  const { callId } = await api.calls.dial({ agentUri: ALICE, destination: '+15550101' })
  const endedAt = (path: string) => (arrival: Arrival) =>
    arrival.path === path && arrival.envelope.data.callId === callId && stateOf(arrival) === 'ended'
  const [healthy, retried, refused] = await Promise.all([
    subscriber.waitFor('the healthy endpoint receives the end of the call', 1, endedAt('/healthy')),
    subscriber.waitFor('the failing endpoint gets its retries', failures + 1, endedAt('/flaky')),
    subscriber.waitFor('the endpoint that is gone gets one attempt', 1, endedAt('/gone')),
  ])

  verify(healthy[0]?.envelope.data.endReason === EndReason.busy, 'the call ended as busy')
  verify(healthy.length === 1 && healthy[0].attempt === 1, 'the healthy endpoint gets it at the first attempt')
  screen.verified('the failures did not affect the healthy endpoint')

  const attempts = retried.map(({ attempt }) => attempt)
  verifySame(attempts, [1, 2, 3].slice(0, failures + 1), 'X-SVC-Attempt counts the attempts')
  verify(new Set(retried.map(({ deliveryId }) => deliveryId)).size === 1, 'a retry keeps its delivery id')
  verify(new Set(retried.map(({ body }) => body)).size === 1, 'a retry sends the same bytes')
  const gaps = retried.slice(1).map(({ at }, index) => at - (retried[index]?.at ?? 0))
  const isEarly = gaps.some((gap, index) => gap < (waitsMs[index] ?? 0) - 20)
  verify(!isEarly, 'a retry is not early')
  const waited = gaps.map((gap) => `${(gap / 1_000).toFixed(2)} s`).join(' and ')
  screen.verified(`503, retried after ${waited}: same id, same bytes`)

  const firstParked = async () => (await api.subscriptions.deliveries(gone.id, { state: 'parked' }).page()).items[0]
  await waitUntil(async () => (await firstParked()) !== undefined, SETTLES_WITHIN_MS)
  const parked = await firstParked()
  verify(parked !== undefined, 'the refused delivery is parked')
  verify(parked.deliveryId === refused[0]?.deliveryId && refused.length === 1, '410 is not retried')
  screen.verified('410 is not retried: the delivery is parked')
  return { parked, subscriptionIds: [works, fails, gone].map(({ id }) => id) }
}

/** Reads the parked delivery, repairs the endpoint and sends the delivery again. */
export async function aParkedDeliveryIsSentAgain(
  { api, subscriber, screen, explain }: SceneContext,
  parked: Schemas['DeliverySummary'],
): Promise<void> {
  screen.scene('The parked delivery is inspected, then sent again once the endpoint is back')
  const { deliveryId } = parked
  screen.row([`$ npx switchhook explain ${deliveryId}`])
  for (const line of await explain(deliveryId)) screen.row([line])
  const record = await api.deliveries.read(deliveryId)
  verify(record.state === 'parked' && record.parkedReason === 'rejected', 'the record says why it is parked')
  const statuses = record.attempts.map(({ status }) => status)
  verifySame(statuses, [410], 'the record holds the attempt')

  subscriber.behave('/gone', () => 204)
  await api.deliveries.redeliver(deliveryId)
  const both = await subscriber.waitFor('the delivery is sent again', 2, (arrival) => arrival.deliveryId === deliveryId)
  const answers = both.map(({ attempt, answer }) => `${attempt}: ${answer}`)
  verifySame(answers, ['1: 410', '2: 204'], 'the attempt counter continues')
  verify(both[0]?.body === both[1]?.body, 'the same bytes are sent again')
  const isAcknowledged = async (): Promise<boolean> => {
    const { state, attempts } = await api.deliveries.read(deliveryId)
    return state === 'acknowledged' && attempts.length === 2
  }
  verify(await waitUntil(isAcknowledged, SETTLES_WITHIN_MS), 'the delivery is acknowledged')
  screen.verified('sent again as attempt 2, same id, same bytes, and acknowledged')
}

/** The columns for one webhook: time, event, headers and answer. */
export function describeArrival(arrival: Arrival, sinceMs: number): readonly string[] {
  const { path, event = '?', attempt, deliveryId = '?', answer } = arrival
  return [
    `${((arrival.at - sinceMs) / 1_000).toFixed(2).padStart(6)} s`,
    path.padEnd(8),
    whoOf(arrival).padEnd(5),
    stateOf(arrival).padEnd(12),
    `X-SVC-Event: ${event.padEnd(12)}`,
    `X-SVC-Attempt: ${attempt}`,
    `X-SVC-Delivery: ${deliveryId.slice(0, 8)}…`,
    `→ ${answer}`,
  ]
}

const stateOf = ({ envelope: { eventType, data } }: Pick<Arrival, 'envelope'>): string =>
  eventType === 'agent.status'
    ? (STATUSES[data.statusCode] ?? String(data.statusCode))
    : (Object.entries(CallState).find(([, state]) => state === data.state)?.[0] ?? String(data.state))

/** The user part: `alice` of `sip:alice@acme.example`. */
const whoOf = ({ envelope }: Pick<Arrival, 'envelope'>): string => /:([^@]+)@/.exec(envelope.data.agentUri)?.[1] ?? '?'

const hasRightHeaders = ({ event, deliveryId, contentType, envelope }: Arrival): boolean =>
  event === envelope.eventType &&
  deliveryId === envelope.deliveryId &&
  contentType === 'application/json; charset=utf-8'
