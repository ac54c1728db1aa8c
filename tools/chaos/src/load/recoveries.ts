import { eventually } from '@switchhook/testkit'
import { BROKEN_AT_FIRST, DEAD_FOR_LONG } from './behaviour.ts'
import type { Client } from './client.ts'
import type { Parked, RecoverySeen } from './observation.ts'
import { parkedOf } from './parked.ts'
import type { Subscribers } from './subscribers.ts'

/** Recoveries of parked deliveries. They go on whatever strikes. */
export interface Recoveries {
  /** Repairs the endpoint that is broken at first, and begins to send again what was parked for it. Answers how much that is. */
  begin(): Promise<number>
  /** Begins to send again what was parked as `exhausted`, unless a recovery of it is still running. */
  beginExhausted(): Promise<void>
  look(): Promise<readonly RecoverySeen[]>
}

/** So many have to be parked first … */
const PARKED = 40
/** … that at this pace the recovery takes as long as several faults. */
const PER_SECOND = 4
const EXHAUSTED_PER_SECOND = 200
/** A long run leaves thousands. */
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
  /** No fault strikes any more when they are read: what is acknowledged stays so. */
  const acknowledged = new Map<string, Sent>()

  const subscriptionOf = (name: string): string => {
    const subscription = subscribers.subscriptions.find(({ endpoint }) => endpoint === name)
    if (subscription === undefined) throw new Error(`no endpoint is ${name}`)
    return subscription.subscriptionId
  }
  const listed = (name: string): Promise<Parked[]> => parkedOf(client, name, subscriptionOf(name))

  async function start(endpoint: string, maxPerSecond: number): Promise<number> {
    const parked = await listed(endpoint)
    const path = `/api/v1/webhooks/subscriptions/${subscriptionOf(endpoint)}/recover`
    const { status, body } = await client.insist('POST', path, { maxPerSecond })
    if (status !== 202) throw new Error(`a recovery was answered ${status}`)
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
          if ((await listed(BROKEN_AT_FIRST)).length < PARKED) throw new Error('not enough is parked')
        },
        { timeoutMs: PATIENCE_MS, intervalMs: REPEAT_MS },
      )
      subscribers.repair()
      return await start(BROKEN_AT_FIRST, PER_SECOND)
    },
    beginExhausted: async () => {
      const seen = await Promise.all(begun.filter(({ endpoint }) => endpoint === DEAD_FOR_LONG).map(countsOf))
      if (seen.some(({ state }) => state !== 'done') || (await listed(DEAD_FOR_LONG)).length === 0) return
      await start(DEAD_FOR_LONG, EXHAUSTED_PER_SECOND)
    },
    look: () => Promise.all(begun.map(lookAt)),
  }
}
