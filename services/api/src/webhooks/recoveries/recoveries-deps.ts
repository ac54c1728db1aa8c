import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type {
  BreakerStore,
  DeliveryArchive,
  JournalReader,
  ParkedWindow,
  RejectionStore,
  StateStore,
} from '@switchhook/store'
import type { Base } from '../../base.ts'
import type { Writing } from '../../state/transact.ts'
import type { RecoveryMeter } from './recovery-meter.ts'

/** What recoveries use. */
export interface RecoveriesDeps extends Pick<Base, 'now'> {
  readonly store: StateStore
  /** Called after every commit, with the timers that it set. */
  readonly committed: (writing: Writing) => void
  readonly look: BreakerStore['look']
  readonly parked: Pick<ParkedWindow, 'take' | 'stateOf' | 'countAfter'>
  readonly rejections: Pick<RejectionStore, 'note' | 'forget'>
  readonly deliveries: Pick<
    DeliveryArchive,
    'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent' | 'find' | 'list'
  >
  readonly journal: Pick<JournalReader, 'after' | 'newest' | 'read'>
  readonly publish: Broker['publishBacklogged']
  /** Maximum deliveries per second of one recovery. */
  readonly mostPerSecond: number
  readonly meter: RecoveryMeter
  readonly log: Pick<Logger, 'info' | 'warn'>
}
