import type { Schemas } from '@switchhook/client'
import { waitUntil } from '@switchhook/test-servers'
import type { Parked, RecoveryCounts, RecoverySeen } from '../reconcile/observation.ts'
import { BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import type { Subscribers } from '../subscribers/subscribers.ts'
import type { Client } from './client.ts'

/** At this count and rate, the recovery lasts for several faults. */
const PARKED = 40
const PER_SECOND = 4
const EXHAUSTED_PER_SECOND = 200
/** A long run has thousands of deliveries to read. */
const READ_AT_ONCE = 20
const REPEAT_MS = 250
const PATIENCE_MS = 90_000

type Sent = RecoverySeen['deliveries'][number]

interface Begun extends Pick<RecoverySeen, 'endpoint' | 'begunAtMs'> {
  readonly recoveryId: string
  readonly parked: readonly Parked[]
}

/** Recoveries of parked deliveries. They continue while faults are injected. */
export function openRecoveries(client: Client, subscribers: Subscribers) {
  const begun: Begun[] = []
  /** Deliveries are read after the last fault, so an acknowledged one stays acknowledged. */
  const acknowledged = new Map<string, Sent>()

  const listed = (name: string): Promise<Parked[]> => listParked(client, name, subscribers.at(name).subscriptionId)

  async function start(endpoint: string, maxPerSecond: number): Promise<number> {
    const parked = await listed(endpoint)
    const path = `/api/v1/webhooks/subscriptions/${subscribers.at(endpoint).subscriptionId}/recover`
    const { status, body } = await client.insist('POST', path, { maxPerSecond })
    if (status !== 202) throw new Error(`starting a recovery was answered ${status}`)
    begun.push({ endpoint, begunAtMs: Date.now(), recoveryId: String(body['recoveryId']), parked })
    return parked.length
  }

  async function countsOf({ recoveryId }: Begun): Promise<RecoveryCounts> {
    const { body } = await client.insist('GET', `/api/v1/webhooks/recoveries/${recoveryId}`)
    return body as unknown as RecoveryCounts
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
    return { ...counts, ...one, deliveries }
  }

  return {
    /** Repairs the endpoint that is broken at first and begins a recovery. Returns the number of parked deliveries. */
    begin: async (): Promise<number> => {
      const isEnough = waitUntil(async () => (await listed(BROKEN_AT_FIRST)).length >= PARKED, PATIENCE_MS, REPEAT_MS)
      if (!(await isEnough)) throw new Error('too few deliveries are parked')
      subscribers.at(BROKEN_AT_FIRST).repair()
      return await start(BROKEN_AT_FIRST, PER_SECOND)
    },
    /** Begins a recovery of the exhausted deliveries, unless one is still running. */
    beginExhausted: async (): Promise<void> => {
      const seen = await Promise.all(begun.filter(({ endpoint }) => endpoint === DOWN_FOR_LONG).map(countsOf))
      if (seen.some(({ state }) => state !== 'done') || (await listed(DOWN_FOR_LONG)).length === 0) return
      await start(DOWN_FOR_LONG, EXHAUSTED_PER_SECOND)
    },
    look: (): Promise<readonly RecoverySeen[]> => Promise.all(begun.map(lookAt)),
  }
}

/** Lists every delivery of a subscription that is in this state. */
export async function listDeliveries(client: Client, subscriptionId: string, state: string) {
  const all: Schemas['DeliverySummary'][] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ state, limit: '100', ...(cursor !== null && { cursor }) })
    const path = `/api/v1/webhooks/subscriptions/${subscriptionId}/deliveries?${query.toString()}`
    const { status, body } = await client.insist('GET', path)
    if (status !== 200) throw new Error(`listing ${state} deliveries was answered ${status}`)
    all.push(...(body['items'] as typeof all))
    cursor = body['nextCursor'] as string | null
  } while (cursor !== null)
  return all
}

/** Lists every parked delivery of an endpoint's subscription. */
export async function listParked(client: Client, endpoint: string, subscriptionId: string): Promise<Parked[]> {
  const listed = await listDeliveries(client, subscriptionId, 'parked')
  return listed.map(({ deliveryId, run, parkedReason }) => ({
    endpoint,
    deliveryId,
    run,
    reason: String(parkedReason),
  }))
}
