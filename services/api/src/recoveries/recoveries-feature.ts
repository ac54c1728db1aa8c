import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import {
  type BreakerStore,
  createBreakerReader,
  createDeliveryArchive,
  createParkedCounter,
  createParkedWindow,
  type DeliveryArchive,
  type ParkedWindow,
  type StateStore,
} from '@switchhook/store'
import { createSendAgain } from '../deliveries/send-again.ts'
import type { Base, Feature } from '../feature.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { createTransact, type Writing } from '../state/transact.ts'
import type { SubscriptionsFeature } from '../subscriptions/subscriptions-feature.ts'
import { createRecoveryDriver, type RecoveryDriver } from './drive-recovery.ts'
import { createRecoveryBook, type RecoveryBook } from './recovery-book.ts'
import { createRecoveryMeter, type RecoveryMeter } from './recovery-meter.ts'
import { createRecoveryRoutes } from './recovery-routes.ts'
import { createSendItems } from './send-items.ts'

export interface RecoveriesDeps {
  readonly store: StateStore
  /** Is told of every timer that was set. */
  readonly committed: (writing: Writing) => void
  readonly look: BreakerStore['look']
  readonly parked: Pick<ParkedWindow, 'take' | 'stateOf'>
  readonly deliveries: Pick<DeliveryArchive, 'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent' | 'find'>
  readonly publish: Broker['publishDelivery']
  /** Deliveries per second of one recovery, at most. */
  readonly mostPerSecond: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly meter: RecoveryMeter
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** The recoveries of this installation as one replica sees them. Their timers have the owner `recovery`. */
export function createRecoveries(deps: RecoveriesDeps): {
  readonly book: RecoveryBook
  readonly driver: RecoveryDriver
} {
  const { store, committed, look, parked, deliveries, publish, mostPerSecond, now, meter, log } = deps
  const transact = createTransact(store, committed)
  const book = createRecoveryBook({ store, transact, meter, now })
  const send = createSendItems({ sendAgain: createSendAgain({ deliveries, publish, now }), deliveries, log })
  return {
    book,
    driver: createRecoveryDriver({
      transact,
      find: (tenant, recoveryId) => book.find(tenant, recoveryId),
      look,
      parked,
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
  { config, metrics, redis, publishDelivery, log, now }: Base,
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
      parkedCount: (subscriptionId) => parkedCounter.count(subscriptionId),
      now,
    }),
    timers: { recovery: (timer) => driver.timerDue(timer) },
    close: () => driver.idle(),
  }
}
