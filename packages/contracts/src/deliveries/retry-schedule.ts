import type { Delivery } from './delivery.ts'

export interface RetrySchedule {
  /** The waits between slots, in ms. */
  readonly waitsMs: readonly number[]
  /** How long a failing endpoint is not contacted. */
  readonly cooldownMs: number
}

/** The schedule of a delivery. All that is kept for it lasts as long as its own schedule asks for. */
export type ScheduleOf = (delivery: Pick<Delivery, 'deliveryId'>) => RetrySchedule

/**
 * The default waits between the attempts of a delivery, as `DELIVERY_RETRY_WAITS` takes them (specification, "Delivery").
 * This is their one source: documents are generated from it, and a test compares the texts that repeat it.
 */
export const DEFAULT_RETRY_WAITS = '10s,1m,5m,30m,2h,4h,6h'

const UNITS = { s: { name: 's', seconds: 1 }, m: { name: 'min', seconds: 60 }, h: { name: 'h', seconds: 3_600 } }

const waits = [...DEFAULT_RETRY_WAITS.matchAll(/(\d+)([smh])/g)].map(([, count = '', unit = '']) => {
  const { name, seconds } = UNITS[unit as keyof typeof UNITS]
  return { text: `${count} ${name}`, seconds: Number(count) * seconds }
})

const inHours = (seconds: number): string =>
  `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`

/** The default schedule for readers: the waits in words, the attempts that they make, and their sum. */
export const DEFAULT_SCHEDULE = {
  waits: new Intl.ListFormat('en-GB').format(waits.map(({ text }) => text)),
  attempts: waits.length + 1,
  length: inHours(waits.reduce((sum, { seconds }) => sum + seconds, 0)),
} as const
