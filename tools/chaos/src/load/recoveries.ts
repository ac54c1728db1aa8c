import { eventually } from '@switchhook/testkit'
import type { Parked, RecoverySeen } from '../reconcile/observation.ts'
import { BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import type { Subscribers } from '../subscribers/subscribers.ts'
import type { Client } from './client.ts'

/** Recoveries of parked deliveries. They continue while faults are injected. */
export interface Recoveries {
  /** Repairs the endpoint that is broken at first and begins a recovery. Returns the number of parked deliveries. */
  begin(): Promise<number>
  /** Begins a recovery of the exhausted deliveries, unless one is still running. */
  beginExhausted(): Promise<void>
  look(): Promise<readonly RecoverySeen[]>
}

/** At this count and rate, the recovery lasts for several faults. */
const PARKED = 40
const PER_SECOND = 4
const EXHAUSTED_PER_SECOND = 200
/** A long run has thousands of deliveries to read. */
const READ_AT_ONCE = 20
const REPEAT_MS = 250
const PATIENCE_MS = 30_000

interface Begun {
  readonly endpoint: string
  readonly begunAtMs: number
  readonly recoveryId: string
  readonly parked: readonly Parked[]
}

type Counts = Pick<RecoverySeen, 'state' | 'found' | 'sent' | 'skipped' | 'failed'>
type Sent = RecoverySeen['deliveries'][number]

export function openRecoveries(client: Client, subscribers: Subscribers): Recoveries {
  const begun: Begun[] = []
  /** Deliveries are read after the last fault, so an acknowledged one stays acknowledged. */
  const acknowledged = new Map<string, Sent>()

  const subscriptionOf = (name: string): string => subscribers.subscriptionOf(name)
  const listed = (name: string): Promise<Parked[]> => listParked(client, name, subscriptionOf(name))

  async function start(endpoint: string, maxPerSecond: number): Promise<number> {
    const parked = await listed(endpoint)
    const path = `/api/v1/webhooks/subscriptions/${subscriptionOf(endpoint)}/recover`
    const { status, body } = await client.insist('POST', path, { maxPerSecond })
    if (status !== 202) throw new Error(`starting a recovery was answered ${status}`)
    begun.push({ endpoint, begunAtMs: Date.now(), recoveryId: String(body['recoveryId']), parked })
    return parked.length
  }

  async function countsOf({ recoveryId }: Begun): Promise<Counts> {
    const { body } = await client.insist('GET', `/api/v1/webhooks/recoveries/${recoveryId}`)
    const { state, found, sent, skipped, failed } = body as unknown as Counts
    return { state, found, sent, skipped, failed }
  }

  async function read({ deliveryId, run: parkedRun }: Parked): Promise<Sent> {
    const known = acknowledged.get(deliveryId)
    if (known !== undefined) return known
    const { body } = await client.insist('GET', `/api/v1/webhooks/deliveries/${deliveryId}`)
    const sent = { deliveryId, state: String(body['state']), run: Number(body['run']), parkedRun }
    if (sent.state === 'acknowledged') acknowledged.set(deliveryId, sent)
    return sent
  }

  async function lookAt(one: Begun): Promise<RecoverySeen> {
    const counts = await countsOf(one)
    const deliveries: Sent[] = []
    for (let at = 0; at < one.parked.length; at += READ_AT_ONCE) {
      deliveries.push(...(await Promise.all(one.parked.slice(at, at + READ_AT_ONCE).map(read))))
    }
    return { endpoint: one.endpoint, begunAtMs: one.begunAtMs, ...counts, deliveries }
  }

  return {
    begin: async () => {
      await eventually(
        async () => {
          if ((await listed(BROKEN_AT_FIRST)).length < PARKED) throw new Error('too few deliveries are parked')
        },
        { timeoutMs: PATIENCE_MS, intervalMs: REPEAT_MS },
      )
      subscribers.repair()
      return await start(BROKEN_AT_FIRST, PER_SECOND)
    },
    beginExhausted: async () => {
      const seen = await Promise.all(begun.filter(({ endpoint }) => endpoint === DOWN_FOR_LONG).map(countsOf))
      if (seen.some(({ state }) => state !== 'done') || (await listed(DOWN_FOR_LONG)).length === 0) return
      await start(DOWN_FOR_LONG, EXHAUSTED_PER_SECOND)
    },
    look: () => Promise.all(begun.map(lookAt)),
  }
}

interface ListedDelivery {
  readonly deliveryId: string
  readonly eventId: string
  readonly run: number
  readonly parkedReason: string
}

interface ListedParked extends Parked {
  readonly eventId: string
}

/** Lists every parked delivery of an endpoint's subscription. */
export async function listParked(client: Client, endpoint: string, subscriptionId: string): Promise<ListedParked[]> {
  const all: ListedParked[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ state: 'parked', limit: '100', ...(cursor !== null && { cursor }) })
    const path = `/api/v1/webhooks/subscriptions/${subscriptionId}/deliveries?${query.toString()}`
    const { status, body } = await client.insist('GET', path)
    if (status !== 200) throw new Error(`listing parked deliveries was answered ${status}`)
    const items = body['items'] as readonly ListedDelivery[]
    for (const { deliveryId, eventId, run, parkedReason: reason } of items) {
      all.push({ endpoint, deliveryId, eventId, run, reason })
    }
    cursor = body['nextCursor'] as string | null
  } while (cursor !== null)
  return all
}
