import type { ApiClient, Delivery } from './api-client.ts'
import { claim, isSame } from './claim.ts'
import type { Screen } from './screen.ts'
import type { Arrival, Subscriber } from './subscriber.ts'

export interface Stage {
  readonly api: ApiClient
  readonly subscriber: Subscriber
  readonly screen: Screen
  /** The schedule that the workers were given. */
  readonly waitsMs: readonly number[]
}

const ALICE = 'sip:alice@acme.example'
const STATES: Readonly<Record<number, string>> = {
  1: 'initiated',
  2: 'alerting',
  3: 'connected',
  4: 'held',
  7: 'ended',
  8: 'proceeding',
}
const STATUSES: Readonly<Record<number, string>> = {
  2: 'available',
  50: 'on the phone',
  66: 'lunch',
  146: 'after call',
}
/** An `endReason`. */
const BUSY = 2
const LONG_WAIT_MS = 15_000

/** A call is made, answered and ended, and every step of it arrives at the client's endpoint. */
export async function aCallIsFollowed({ api, subscriber, screen }: Stage): Promise<void> {
  screen.scene('A client subscribes to what happens to calls')
  const { id, secret } = await api.subscribe(subscriber.url('/calls'), ['call.status'])

  screen.scene('An agent calls somebody who answers')
  const callId = await api.dial(ALICE, '+15550100')
  const isOfCall = ({ path, envelope }: Arrival): boolean => path === '/calls' && envelope.data.callId === callId
  await subscriber.waitFor(
    'the call is connected',
    1,
    (arrival) => isOfCall(arrival) && stateOf(arrival) === 'connected',
  )
  await api.hangUp(callId, ALICE)
  const arrivals = await subscriber.waitFor('four webhooks about the call', 4, isOfCall)

  const told = arrivals.toSorted((one, other) => one.envelope.data.sequence - other.envelope.data.sequence)
  claim(isSame(told.map(stateOf), ['initiated', 'proceeding', 'connected', 'ended']), 'each state of the call is told')
  claim(
    isSame(
      told.map(({ envelope }) => envelope.data.sequence),
      [1, 2, 3, 4],
    ),
    'the sequence has no gap',
  )
  claim(told.every(hasRightHeaders), 'the X-SVC headers say what the body says')
  claim(
    told.every(({ attempt }) => attempt === 1),
    'each webhook came at the first attempt',
  )
  screen.claimed('initiated, proceeding, connected, ended: told once each, sequence 1 to 4, headers as specified')
  claim(
    told.every(({ isSignedBy }) => isSignedBy(secret)),
    'each webhook is signed with the secret of its subscription',
  )
  screen.claimed('signed: each signature fits the secret that only the answer to the subscription showed')
  await api.unsubscribe(id)
}

/** One endpoint is down for a while and one says "gone"; the third notices nothing. */
export async function anEndpointFails({ api, subscriber, screen, waitsMs }: Stage): Promise<{
  readonly parked: Delivery
  readonly subscriptionIds: readonly string[]
}> {
  screen.scene('Three endpoints: one that works, one that is down for a moment, one that has gone')
  // A second retry is shown where it does not take minutes.
  const failures = (waitsMs[1] ?? Number.POSITIVE_INFINITY) <= LONG_WAIT_MS ? 2 : 1
  subscriber.behave('/flaky', (post) => (stateOf(post) === 'ended' && post.attempt <= failures ? 503 : 204))
  subscriber.behave('/gone', (post) => (stateOf(post) === 'ended' ? 410 : 204))
  const works = await api.subscribe(subscriber.url('/healthy'), ['call.status'])
  const fails = await api.subscribe(subscriber.url('/flaky'), ['call.status'])
  const gone = await api.subscribe(subscriber.url('/gone'), ['call.status'])

  screen.scene('An agent calls somebody who is busy')
  const callId = await api.dial(ALICE, '+15550101')
  const endedAt = (path: string) => (arrival: Arrival) =>
    arrival.path === path && arrival.envelope.data.callId === callId && stateOf(arrival) === 'ended'
  const [healthy, retried, refused] = await Promise.all([
    subscriber.waitFor('the endpoint that works is told at once', 1, endedAt('/healthy')),
    subscriber.waitFor('the failing endpoint is tried again', failures + 1, endedAt('/flaky')),
    subscriber.waitFor('the endpoint that has gone is told', 1, endedAt('/gone')),
  ])

  claim(healthy[0]?.envelope.data.endReason === BUSY, 'the call ended as busy')
  claim(healthy.length === 1 && healthy[0].attempt === 1, 'the endpoint that works got it at the first attempt')
  screen.claimed('the endpoint that works noticed nothing of the others')

  claim(
    isSame(
      retried.map(({ attempt }) => attempt),
      numbers(failures + 1),
    ),
    'X-SVC-Attempt counts the attempts',
  )
  claim(new Set(retried.map(({ deliveryId }) => deliveryId)).size === 1, 'a retry keeps its delivery id')
  claim(new Set(retried.map(({ body }) => body)).size === 1, 'a retry sends the same bytes')
  const gaps = retried.slice(1).map(({ at }, index) => at - (retried[index]?.at ?? 0))
  claim(
    gaps.every((gap, index) => gap >= (waitsMs[index] ?? 0) - 20),
    'a retry comes no sooner than the schedule says',
  )
  screen.claimed(
    `503, then tried again after ${gaps.map((gap) => `${(gap / 1_000).toFixed(2)} s`).join(' and ')}: same id, same bytes`,
  )

  const parked = await eventually('the refused delivery is parked', async () => (await api.parked(gone.id))[0])
  claim(parked.deliveryId === refused[0]?.deliveryId && refused.length === 1, '410 is not tried again')
  screen.claimed('410 is not tried again: parked')
  return { parked, subscriptionIds: [works, fails, gone].map(({ id }) => id) }
}

/** What was parked is looked at, the endpoint is put right, and it is sent again. */
export async function aParkedDeliveryIsSentAgain({ api, subscriber, screen }: Stage, parked: Delivery): Promise<void> {
  screen.scene('The parked delivery is looked at, and sent again once the endpoint is back')
  const { deliveryId } = parked
  const record = await screen.exchange('GET /api/v1/webhooks/deliveries/{id}', async () => {
    const value = await api.delivery(deliveryId)
    return { status: 200, detail: `${value.state}: ${value.parkedReason ?? ''}`, value }
  })
  for (const { attempt, outcome, status } of record.attempts)
    screen.row([`attempt ${attempt}`, `${outcome} ${status ?? ''}`])
  claim(record.state === 'parked' && record.parkedReason === 'rejected', 'the record says why it is parked')
  claim(
    isSame(
      record.attempts.map(({ status }) => status),
      [410],
    ),
    'the record holds the attempt',
  )

  subscriber.behave('/gone', () => 204)
  await api.redeliver(deliveryId)
  const both = await subscriber.waitFor('it is sent again', 2, (arrival) => arrival.deliveryId === deliveryId)
  claim(
    isSame(
      both.map(({ attempt, answer }) => [attempt, answer]),
      [
        [1, 410],
        [2, 204],
      ],
    ),
    'the attempts go on counting',
  )
  claim(both[0]?.body === both[1]?.body, 'the same bytes are sent again')
  await eventually('the delivery is acknowledged', async () => {
    const { state, attempts } = await api.delivery(deliveryId)
    return state === 'acknowledged' && attempts.length === 2 ? true : undefined
  })
  screen.claimed('sent again as attempt 2, same id, same bytes, and acknowledged')
}

/** For one line on the screen: when, what, its headers, the answer. */
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
    : (STATES[data.state] ?? String(data.state))

/** Whose it is: `alice` of `sip:alice@acme.example`. */
const whoOf = ({ envelope }: Pick<Arrival, 'envelope'>): string => /:([^@]+)@/.exec(envelope.data.agentUri)?.[1] ?? '?'

const hasRightHeaders = ({ event, deliveryId, contentType, envelope }: Arrival): boolean =>
  event === envelope.eventType &&
  deliveryId === envelope.deliveryId &&
  contentType === 'application/json; charset=utf-8'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  let answer: T | undefined
  const deadline = Date.now() + 10_000
  while (answer === undefined && Date.now() < deadline) answer = await ask()
  claim(answer !== undefined, what)
  return answer
}
