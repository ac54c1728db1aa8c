import { type Delivery, type OutcomeBatch, parseOutcomeBatch, type ReportedOutcome } from '@switchhook/contracts'
import { type Consumer, Queue } from '@switchhook/messaging'
import type { Consume } from '@switchhook/service'
import {
  chunksOf,
  type Endpoint,
  type HeldEntry,
  type HeldMessage,
  type HeldStore,
  leaseTimes,
} from '@switchhook/store'
import type { Notices } from '../notices/notices.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { answerExcerpt } from '../policy/answer-excerpt.ts'
import { resultOf } from '../policy/classify.ts'
import type { HeldLimit } from './held-limit.ts'

interface RecordingDeps {
  readonly conclude: Pipeline['conclude']
  readonly heldLimit: Pick<HeldLimit, 'listAgain'>
  readonly notices: Pick<Notices, 'noticeIfParked'>
}

interface RecordOutcomesDeps extends RecordingDeps {
  readonly held: Pick<HeldStore, 'read' | 'remove' | 'recorded'>
}

export interface EndLeasesDeps extends RecordingDeps {
  readonly held: Pick<HeldStore, 'lapsed' | 'readLeases' | 'unparked' | 'read' | 'release' | 'remove'>
  readonly heldLimit: Pick<HeldLimit, 'listAgain' | 'parkExcess'>
}

const CONCURRENT_BATCHES = 10
/** Of a batch, which has up to 100 outcomes. Their messages have 256 KiB at most: a worker holds 64 MB of them. */
export const READ_AT_ONCE = 25
const ENDED_AT_ONCE = 100

export const consumeOutcomes = (consume: Consume, record: ReturnType<typeof createRecordOutcomes>): Promise<Consumer> =>
  consume({
    queue: Queue.reportedOutcomes,
    concurrency: CONCURRENT_BATCHES,
    parse: ({ content }) => parseOutcomeBatch(content),
    handle: record,
  })

/** Records what clients report of deliveries that they have received: each outcome takes the stages that follow a POST. */
export const createRecordOutcomes =
  (deps: RecordOutcomesDeps) =>
  async ({ batchId, tenant, subscriptionId, items }: OutcomeBatch): Promise<void> => {
    const { held, heldLimit } = deps
    for (const some of chunksOf(items, READ_AT_ONCE)) {
      const messages = await held.read(some.map(({ deliveryId }) => deliveryId))
      await Promise.all(some.map((item, i) => recordOutcome(deps, item, messages[i])))
    }
    const leases = items.map(({ deliveryId, lease: score }) => ({ deliveryId, score }))
    // One script for all: a repeat of the batch ends the leases after a crash.
    await held.remove(subscriptionId, 'leased', leases)
    // After the leases: one would count as an entry. The entry may be missing, because another worker has held the delivery
    // again and died, or its write was refused.
    const mayBeHeld = items.filter(({ outcome }) => outcome.kind !== 'delivered')
    await Promise.all(mayBeHeld.map(({ deliveryId }) => heldLimit.listAgain({ deliveryId, tenant, subscriptionId })))
    await held.recorded(batchId)
  }

/** Ends leases of a subscription whose time is over, and parks what a worker claimed because of a limit and has not parked. */
export async function endLeases(deps: EndLeasesDeps, { tenant, subscriptionId }: Endpoint): Promise<void> {
  const { held, heldLimit } = deps
  const lapsed = await held.lapsed(subscriptionId, ENDED_AT_ONCE)
  const messages = await held.read(lapsed.map(({ deliveryId }) => deliveryId))
  // After the messages: if a lease has gone meanwhile, its message can be one that another client has received since.
  const leases = await held.readLeases(subscriptionId, lapsed)
  await Promise.all(
    lapsed.map(async (entry, i) => {
      const { deliveryId, score: lease } = entry
      const [message, { isHeld, reported } = { isHeld: false }] = [messages[i], leases[i]]
      // Clients receive deliveries without a url. This one was with a worker that died. Its subscription may have been deleted.
      const isOfWorker = message !== undefined && message.delivery.url !== ''
      if (isOfWorker) return void (await held.release(subscriptionId, [{ deliveryId, lease }]))
      // Its batch waits for a worker, or was lost. Afterwards it changes nothing.
      if (reported !== undefined) await recordOutcome(deps, reported, message)
      // Otherwise it has gone on, or another worker has ended the lease.
      else if (message !== undefined && isHeld) await concludeReceived(deps, message.delivery, lapsedOf(entry, message))
      await held.remove(subscriptionId, 'leased', [entry])
      // Its entry may be missing, if another worker has held it again and died. The lease would have counted as one.
      await heldLimit.listAgain({ deliveryId, tenant, subscriptionId })
    }),
  )
  const entries = await held.unparked(subscriptionId, ENDED_AT_ONCE)
  if (entries.length > 0) await heldLimit.parkExcess([{ tenant, subscriptionId, entries }])
}

function lapsedOf({ score: lease }: HeldEntry, { delivery }: HeldMessage) {
  const { beganAtMs, endsAtMs } = leaseTimes(lease)
  const outcome = { kind: 'unreachable', reason: 'lapsed' } as const
  const at = new Date(beganAtMs).toISOString()
  return { attempt: delivery.attempt + 1, at, durationMs: endsAtMs - beganAtMs, outcome }
}

/** Records what a client has reported. It can be repeated, because it is recorded only for the message that was handed out. */
async function recordOutcome(
  deps: RecordingDeps,
  reported: ReportedOutcome,
  message: HeldMessage | undefined,
): Promise<void> {
  // It has gone on. Its notice may be missing.
  if (message === undefined) return await deps.notices.noticeIfParked(reported)
  // A success always counts. Otherwise a delivery with another token is held again: the caller lists it.
  const isCounted = message.delivery.token === reported.token || reported.outcome.kind === 'delivered'
  if (isCounted) await concludeReceived(deps, message.delivery, reported)
}

/** Takes a received delivery through the stages that follow a POST. */
async function concludeReceived(
  { conclude }: Pick<RecordingDeps, 'conclude'>,
  received: Delivery,
  { attempt, at, durationMs, outcome }: Pick<ReportedOutcome, 'attempt' | 'at' | 'durationMs' | 'outcome'>,
): Promise<void> {
  const { run, slot } = received
  // As of a POST: without secrets, and not longer.
  const said = outcome.kind === 'answered' ? answerExcerpt(Buffer.from(outcome.answer ?? ''), true) : undefined
  const answer = said !== undefined && { answer: said }
  const made = { run, slot, attempt, at, durationMs, ...resultOf(outcome), ...answer }
  await conclude({ via: 'pull', delivery: received, outcome, attempt: made })
}
