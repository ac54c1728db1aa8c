import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { BreakerStore, DeliveryArchive, ParkedWindow, StateStore } from '@switchhook/store'
import { createSendAgain } from '../deliveries/send-again.ts'
import { createTransact, type Writing } from '../state/transact.ts'
import { createRecoveryDriver, type RecoveryDriver } from './drive-recovery.ts'
import { createRecoveryBook, type RecoveryBook } from './recovery-book.ts'
import type { RecoveryMeter } from './recovery-meter.ts'
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
