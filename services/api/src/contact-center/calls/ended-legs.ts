import { type CallId, CallState, type CallStatus, isGuid, parseCallId, type Tenant } from '@switchhook/contracts'
import { createListCursor, type Page } from '@switchhook/store'
import { REMEMBERED_MS } from '../center/call.ts'
import { type CallListDeps, type LegQuery, readCallsById } from './call-leg.ts'

/** One request looks at this many events of calls at most. */
const MAX_EVENTS = 1_000
const EVENTS_AT_ONCE = 100
/** Beyond the time for which a call is remembered: events are listed after a wait in the outbox or in the broker. */
const LISTED_LATE_MS = 5 * 60_000

const cursors = createListCursor('e', /^[A-Za-z0-9_-]*$/)

export const ENDED_BEGINNING = cursors.of('')

/** Finds the remembered ended legs of a tenant by their last event, because no list of calls is kept. */
export async function endedLegs(
  deps: CallListDeps,
  tenant: Tenant,
  { limit, cursor, agentUri }: LegQuery,
): Promise<Page<CallStatus>> {
  let next = cursor === undefined ? '' : cursors.parse(cursor)
  const legs = new Map<string, CallStatus>()
  for (let searched = 0; searched < MAX_EVENTS && legs.size < limit; searched += EVENTS_AT_ONCE) {
    const page = await deps.events.page(tenant, {
      // Never more events than there is room for legs, so that every page of legs ends where a page of events does.
      limit: Math.min(EVENTS_AT_ONCE, limit - legs.size),
      eventType: 'call.status',
      fromMs: deps.now() - REMEMBERED_MS - LISTED_LATE_MS,
      ...(next !== '' && { cursor: next }),
      ...(agentUri !== undefined && { agentUri }),
    })
    const ids = page.items.flatMap(({ callId }) => (isGuid(callId) ? [parseCallId(callId)] : []))
    const calls = await readCallsById(deps, tenant, ids)
    for (const event of page.items) {
      const leg = calls.get(event.callId as CallId)?.legs[event.agentUri ?? '']?.status
      if (leg !== undefined && isLastEvent(leg, event)) legs.set(`${leg.callId} ${leg.agentUri}`, leg)
    }
    if (page.nextCursor === null) return { items: [...legs.values()], nextCursor: null }
    next = page.nextCursor
  }
  return { items: [...legs.values()], nextCursor: cursors.of(next) }
}

/** An ended leg has no event after the one that ended it. */
const isLastEvent = (leg: CallStatus, { occurredAt }: { readonly occurredAt: string }): boolean =>
  leg.state === CallState.ended && leg.occurredAt === occurredAt
