import type { CallStatus, Tenant } from '@switchhook/contracts'
import { createListCursor, type Page } from '@switchhook/store'
import { type CallListDeps, isLiveLeg, type LegQuery, readCallsById } from './call-leg.ts'

/** One request reads the calls of this many agents at most. */
const MAX_AGENTS = 500
const AGENTS_AT_ONCE = 100

/** The place of a leg: `<call> <agent>`, or ` <agent>` after all legs of an agent. */
const PLACE = /^([0-9a-f-]{36})? .{1,255}$/s

const cursors = createListCursor('l', PLACE)

export function isLiveCursor(cursor: string): boolean {
  try {
    cursors.parse(cursor)
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
  const place = cursor === undefined ? undefined : cursors.parse(cursor)
  const [fromCall = '', fromAgent] = place === undefined ? [] : partsOf(place)
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
        return { items, nextCursor: last === undefined ? null : cursors.of(`${last.callId} ${last.agentUri}`) }
      }
      items.push(leg)
    }
    after = uris.at(-1)
  }
  return { items, nextCursor: cursors.of(` ${after}`) }
}

async function legsOf(deps: CallListDeps, tenant: Tenant, agentUris: readonly string[]): Promise<CallStatus[]> {
  const agents = await deps.center.readAgents(tenant, agentUris)
  const calls = await readCallsById(
    deps,
    tenant,
    agents.flatMap((one) => one.calls.map(({ callId }) => callId)),
  )
  return agents.flatMap(({ agentUri, calls: own }) => {
    const ids = own.map(({ callId }) => callId).toSorted()
    return ids.map((callId) => calls.get(callId)?.legs[agentUri]?.status).filter(isLiveLeg)
  })
}

async function urisAfter(
  { platform }: CallListDeps,
  tenant: Tenant,
  after: string | undefined,
  only: string | undefined,
): Promise<string[]> {
  if (only === undefined) {
    const page = await platform.listAgents(tenant, { limit: AGENTS_AT_ONCE, ...(after !== undefined && { after }) })
    return page.map(({ agentUri }) => agentUri)
  }
  return after === undefined && (await platform.findAgent(tenant, only)) !== undefined ? [only] : []
}

function partsOf(place: string): [callId: string, agentUri: string] {
  const space = place.indexOf(' ')
  return [place.slice(0, space), place.slice(space + 1)]
}
