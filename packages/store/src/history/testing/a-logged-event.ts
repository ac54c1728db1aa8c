import { newEventId } from '@switchhook/contracts'
import type { LoggedEvent } from '../journal.ts'

/** A `call.status` event of `acme` as fan-out logs it, without subscriptions. */
export const aLoggedEvent = (change: Partial<LoggedEvent> = {}): LoggedEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  tenant: 'acme',
  occurredAt: '2026-11-20T12:00:00.000Z',
  fannedOutAt: new Date().toISOString(),
  subscriptionIds: [],
  subject: { callId: null, agentUri: null, correlationId: null },
  ...change,
})
