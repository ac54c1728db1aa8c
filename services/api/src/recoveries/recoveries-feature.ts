import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import {
  type BreakerStore,
  createBreakerReader,
  createDeliveryArchive,
  createParkedCounter,
  createParkedWindow,
  type DeliveryArchive,
  type JournalReader,
  type ParkedWindow,
  type StateStore,
} from '@switchhook/store'
import { createSendAgain } from '../deliveries/send-again.ts'
import type { Base, Feature } from '../feature.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { createTransact, type Writing } from '../state/transact.ts'
import type { SubscriptionsFeature } from '../subscriptions/subscriptions-feature.ts'
import { createBackfillWindow } from './backfill-window.ts'
import { createRecoveryDriver, type RecoveryDriver } from './drive-recovery.ts'
import { createRecoveryBook, type RecoveryBook } from './recovery-book.ts'
import { createRecoveryMeter, type RecoveryMeter } from './recovery-meter.ts'
import { createRecoveryRoutes } from './recovery-routes.ts'
import { createSendItems } from './send-items.ts'

export interface RecoveriesDeps {
  readonly store: StateStore
  /** Called after every commit, with the timers that it set. */
  readonly committed: (writing: Writing) => void
  readonly look: BreakerStore['look']
  readonly parked: Pick<ParkedWindow, 'take' | 'stateOf'>
  readonly deliveries: Pick<
    DeliveryArchive,
    'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent' | 'find' | 'list'
  >
  readonly journal: Pick<JournalReader, 'after' | 'newest' | 'read'>
  readonly publish: Broker['publishDelivery']
  /** Maximum deliveries per second of one recovery. */
  readonly mostPerSecond: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly meter: RecoveryMeter
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Recoveries, as one replica runs them. A recovery sends the parked deliveries of a subscription again, in small steps, so
 * that any replica can continue it after a crash. From the POST to the end:
 *
 * 1. `POST …/recover` counts the parked deliveries of the selection and stores the recovery with the timer of its first
 *    step (`recovery-routes.ts`, `recovery-book.ts`). The list as it is then is all that the recovery sends: deliveries
 *    that are parked later, its own included, are not touched.
 * 2. The timer is due at some replica, which begins the step (`drive-recovery.ts`). From the subscription, the circuit
 *    breaker and the state of a sample, the pace decides how many deliveries to send now, or what to wait for (`pace.ts`).
 * 3. The batch is stored before it is sent, with a timer at the end of its lease. If the replica dies, that timer begins
 *    the next step at another replica, which sends the same runs of the same batch again.
 * 4. Each delivery of the batch is sent as `redeliver` sends it (`send-items.ts`).
 * 5. The counts are stored with the timer of the next step, or with the end: `done` once the list is read and no batch is
 *    left (`recovery.ts` has these transitions as pure functions).
 *
 * A recovery also ends as `cancelled`: on request, when its subscription is deleted, or after 30 days without progress.
 * The owner of its timers is `recovery`, or `sending` if versions without event types and backfills must not drive it.
 *
 * A backfill is a recovery that reads the journal instead of the list of parked deliveries, and sends the events that did
 * not go to the subscription as new deliveries.
 */
export function createRecoveries(deps: RecoveriesDeps): {
  readonly book: RecoveryBook
  readonly driver: RecoveryDriver
} {
  const { store, committed, look, parked, deliveries, journal, publish, mostPerSecond, now, meter, log } = deps
  const transact = createTransact(store, committed)
  const book = createRecoveryBook({ store, transact, meter, now })
  const sendAgain = createSendAgain({ deliveries, publish, now })
  const send = createSendItems({ sendAgain, deliveries, journal, now, log })
  return {
    book,
    driver: createRecoveryDriver({
      transact,
      find: (tenant, recoveryId) => book.find(tenant, recoveryId),
      look,
      parked,
      backfill: createBackfillWindow(journal),
      send,
      mostPerSecond,
      now,
      meter,
      log,
    }),
  }
}

export interface RecoveriesFeature extends Feature {
  readonly timers: TimerOwners
  /** Resolves once the steps in progress have finished. */
  readonly close: () => Promise<void>
}

export function createRecoveriesFeature(
  { config, metrics, redis, journal, publishDelivery, log, now }: Base,
  { store, committed }: State,
  subscriptions: SubscriptionsFeature,
): RecoveriesFeature {
  const breakers = createBreakerReader(redis)
  const parked = createParkedWindow(redis)
  const parkedCounter = createParkedCounter(redis)
  const { book, driver } = createRecoveries({
    store,
    committed,
    look: (endpoint) => breakers.look(endpoint),
    parked,
    deliveries: createDeliveryArchive(redis),
    journal,
    publish: publishDelivery,
    mostPerSecond: config.RECOVERY_RATE,
    now,
    meter: createRecoveryMeter(metrics),
    log,
  })
  return {
    routes: createRecoveryRoutes({
      subscriptions: subscriptions.storeFor404,
      recoveries: book,
      parked,
      backfill: createBackfillWindow(journal),
      isJournalOn: journal.isOn,
      parkedCount: (subscriptionId) => parkedCounter.count(subscriptionId),
      now,
    }),
    timers: { recovery: (timer) => driver.timerDue(timer), sending: (timer) => driver.timerDue(timer) },
    close: () => driver.idle(),
  }
}
