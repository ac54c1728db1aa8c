import { type CallId, CallState, type CallStatus, isGuid, parseCallId, type Tenant } from '@switchhook/contracts'
import { provisionedUri } from '@switchhook/platform'
import { createListCursor, type Page } from '@switchhook/store'
import { REMEMBERED_MS } from '../center/call.ts'
import { type CallListDeps, type LegQuery, readCallsById, readLiveLegs } from './call-leg.ts'

/** One request reads the calls of this many agents at most. */
const MAX_AGENTS = 500
const AGENTS_AT_ONCE = 100

/** The place of a leg: `<call> <agent>`, or ` <agent>` after all legs of an agent. */
const PLACE = /^([0-9a-f-]{36})? (.{1,255})$/s

const liveCursors = createListCursor('l', PLACE)

export function isLiveCursor(cursor: string): boolean {
  try {
    liveCursors.parse(cursor)
    return true
  } catch {
    return false
  }
}

/** Finds the live legs of a tenant: the stored agents name their calls, so no list of calls is needed. */
export async function liveLegs(
  deps: CallListDeps,
  tenant: Tenant,
  { limit, cursor, agentUri: only }: LegQuery,
): Promise<Page<CallStatus>> {
  const place = cursor === undefined ? null : PLACE.exec(liveCursors.parse(cursor))
  const [, fromCall = '', fromAgent] = place ?? []
  const items: CallStatus[] = []
  // A page can end between two calls of an agent, who then comes first on the next page.
  let uris = fromCall === '' || fromAgent === undefined ? undefined : [fromAgent]
  let after = fromAgent
  for (let searched = 0; searched < MAX_AGENTS; searched += uris.length) {
    uris = searched === 0 && uris !== undefined ? uris : await urisAfter(deps, tenant, after, only)
    if (uris.length === 0) return { items, nextCursor: null }
    for (const leg of await legsOf(deps, tenant, uris)) {
      if (leg.agentUri === fromAgent && leg.callId <= fromCall) continue
      if (items.length === limit) {
        const last = items.at(-1)
        return { items, nextCursor: last === undefined ? null : liveCursors.of(`${last.callId} ${last.agentUri}`) }
      }
      items.push(leg)
    }
    after = uris.at(-1)
  }
  return { items, nextCursor: liveCursors.of(` ${after}`) }
}

async function legsOf({ center }: CallListDeps, tenant: Tenant, agentUris: readonly string[]): Promise<CallStatus[]> {
  const agents = await readLiveLegs(center, tenant, agentUris)
  return agents.flatMap(({ legs }) => legs.toSorted((a, b) => (a.callId < b.callId ? -1 : 1)))
}

async function urisAfter({ platform }: CallListDeps, tenant: Tenant, after?: string, only?: string): Promise<string[]> {
  if (only === undefined) {
    const page = await platform.listAgents(tenant, { limit: AGENTS_AT_ONCE, ...(after !== undefined && { after }) })
    return page.map(({ agentUri }) => agentUri)
  }
  const agent = after === undefined ? await platform.findAgent(tenant, only) : undefined
  return agent === undefined ? [] : [agent.agentUri]
}

/** One request looks at this many events of calls at most. */
const MAX_EVENTS = 1_000
const EVENTS_AT_ONCE = 100
/** Beyond the time for which a call is remembered: events are listed after a wait in the outbox or in the broker. */
const LISTED_LATE_MS = 5 * 60_000

const endedCursors = createListCursor('e', /^[A-Za-z0-9_-]*$/)

export const ENDED_BEGINNING = endedCursors.of('')

/** Finds the remembered ended legs of a tenant by their last event, because no list of calls is kept. */
export async function endedLegs(
  deps: CallListDeps,
  tenant: Tenant,
  { limit, cursor, agentUri }: LegQuery,
): Promise<Page<CallStatus>> {
  let next = cursor === undefined ? '' : endedCursors.parse(cursor)
  const named = agentUri && (await provisionedUri(deps.platform, tenant, agentUri))
  const legs = new Map<string, CallStatus>()
  for (let searched = 0; searched < MAX_EVENTS && legs.size < limit; searched += EVENTS_AT_ONCE) {
    const page = await deps.events.page(tenant, {
      // Never more events than there is room for legs, so that every page of legs ends where a page of events does.
      limit: Math.min(EVENTS_AT_ONCE, limit - legs.size),
      eventType: 'call.status',
      fromMs: deps.now() - REMEMBERED_MS - LISTED_LATE_MS,
      ...(next !== '' && { cursor: next }),
      ...(named !== undefined && { agentUri: named }),
    })
    const ids = page.items.flatMap(({ callId }) => (isGuid(callId) ? [parseCallId(callId)] : []))
    const calls = await readCallsById(deps.center, tenant, ids)
    for (const event of page.items) {
      const leg = calls.get(event.callId as CallId)?.legs[event.agentUri ?? '']?.status
      // An ended leg has no event after the one that ended it.
      const isLast = leg?.state === CallState.ended && leg.occurredAt === event.occurredAt
      if (isLast) legs.set(`${leg.callId} ${leg.agentUri}`, leg)
    }
    if (page.nextCursor === null) return { items: [...legs.values()], nextCursor: null }
    next = page.nextCursor
  }
  return { items: [...legs.values()], nextCursor: endedCursors.of(next) }
}
