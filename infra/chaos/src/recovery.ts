import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@switchhook/testkit'
import { BROKEN_AT_FIRST } from './behaviour.ts'
import type { Client } from './client.ts'
import type { RecoverySeen } from './observation.ts'
import { parkedOf } from './parked.ts'
import type { Subscribers } from './subscribers.ts'

/** A recovery that was begun, and goes on whatever strikes. */
export interface RunningRecovery {
  /** Deliveries that were parked when it began. */
  readonly count: number
  look(): Promise<RecoverySeen>
}

/** So many have to be parked first … */
const PARKED = 40
/** … that at this pace it takes as long as several faults. */
const PER_SECOND = 4
const REPEAT_MS = 250
const PATIENCE_MS = 30_000

/** Waits until enough is parked at the endpoint that is broken, repairs it, and has all of that sent again. */
export async function beginRecovery(client: Client, subscribers: Subscribers): Promise<RunningRecovery> {
  const subscription = subscribers.subscriptions.find(({ endpoint }) => endpoint === BROKEN_AT_FIRST)
  if (subscription === undefined) throw new Error('no endpoint is broken at first')
  const { endpoint, subscriptionId } = subscription
  const listed = (): ReturnType<typeof parkedOf> => parkedOf(client, endpoint, subscriptionId)
  await eventually(
    async () => {
      if ((await listed()).length < PARKED) throw new Error('not enough is parked')
    },
    { timeoutMs: PATIENCE_MS, intervalMs: REPEAT_MS },
  )
  subscribers.repair()
  const parked = await listed()
  const path = `/api/v1/webhooks/subscriptions/${subscriptionId}/recover`
  const recoveryId = await insist(client, path, { maxPerSecond: PER_SECOND })

  return {
    count: parked.length,
    look: async () => {
      const { body } = await client.request('GET', `/api/v1/webhooks/recoveries/${recoveryId}`)
      const { state, found, sent, skipped, failed } = body as unknown as RecoverySeen
      const deliveries = await Promise.all(
        parked.map(async ({ deliveryId, run: parkedRun }) => {
          const read = await client.request('GET', `/api/v1/webhooks/deliveries/${deliveryId}`)
          return { deliveryId, state: String(read.body['state']), run: Number(read.body['run']), parkedRun }
        }),
      )
      return { state, found, sent, skipped, failed, deliveries }
    },
  }
}

async function insist(client: Client, path: string, body: object): Promise<string> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(REPEAT_MS)) {
    const reply = await client.request('POST', path, body)
    if (reply.status === 202) return String(reply.body['recoveryId'])
    if (Date.now() > deadline) throw new Error(`a recovery was answered ${reply.status}`)
  }
}
