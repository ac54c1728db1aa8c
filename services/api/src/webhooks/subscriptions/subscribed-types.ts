import { ALL_TYPES, EVENT_TYPES, type EventType, type SubscribedType } from '@switchhook/contracts'

/**
 * As they are stored. `*` is stored with all types of this version: fan-out and workers of a version that does not know `*`
 * deliver the types that they know.
 */
export const storedTypes = (asked: readonly SubscribedType[]): SubscribedType[] =>
  asked.includes(ALL_TYPES) ? [...EVENT_TYPES, ALL_TYPES] : [...new Set(asked)]

export const shownTypes = (stored: readonly SubscribedType[]): readonly SubscribedType[] =>
  stored.includes(ALL_TYPES) ? [ALL_TYPES] : stored

/** The known event types that a list of types stands for, in the order of `EVENT_TYPES`. */
export const coveredTypes = (wanted: readonly SubscribedType[]): EventType[] =>
  EVENT_TYPES.filter((type) => wanted.includes(type) || wanted.includes(ALL_TYPES))
