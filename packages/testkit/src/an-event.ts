import { newEventId, type PlatformEvent } from '@switchhook/contracts'

/** A `call.status` event of `acme`. */
export const anEvent = (change: Partial<PlatformEvent> = {}): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T12:00:00.000Z',
  tenant: 'acme',
  data: {},
  ...change,
})
