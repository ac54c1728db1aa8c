import type { NOTICES } from './notice-schemas.ts'
import type { DataOf } from './schema-parts.ts'

/** `data` of the notices. Times are ISO 8601, UTC. */
export type NoticeData = DataOf<(typeof NOTICES)[keyof typeof NOTICES]>

/** Whether an event is about the delivery engine itself. Deliveries of such events never cause further notices. */
export const isNotice = (eventType: string): boolean => eventType.startsWith('webhook.')

export const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '')
