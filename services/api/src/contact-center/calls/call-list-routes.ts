import { AppError, type CallStatus, isGuid, parseCallId, type Tenant } from '@switchhook/contracts'
import type { Page } from '@switchhook/store'
import { type RouteOf, reads, searches } from '../../http/route.ts'
import { completeComponent, flag, list, pageParameters, pageSchema, type QueryOf, text } from '../../http/schema.ts'
import { type CallListDeps, callLegSchema, showLegs } from './call-leg.ts'
import { callIdParam } from './call-schemas.ts'
import { ENDED_BEGINNING, endedLegs, isLiveCursor, liveLegs } from './list-legs.ts'

const query = {
  live: flag(
    '`true`: only live legs, by agent. `false`: only ended ones, the last to end first. Absent: first the live ones, then the ended ones.',
    true,
  ),
  agentUri: text('Only legs of this agent. Percent-encode special characters such as `+`.', 'sip:alice@acme.example', {
    minLength: 1,
    maxLength: 255,
  }),
  ...pageParameters,
} as const

type CallQuery = QueryOf<typeof query>

const callPageSchema = pageSchema('CallPage', 'A page of call legs.', callLegSchema, 'live ones first')

const callSchema = completeComponent('Call', 'A call with the legs of all its agents.', {
  callId: callIdParam,
  legs: list(
    'One leg per agent, ended ones included. Empty until the platform has reported a dialled call.',
    callLegSchema,
  ),
})

async function pageOf(deps: CallListDeps, tenant: Tenant, { live, ...rest }: CallQuery): Promise<Page<CallStatus>> {
  const isPastLive = rest.cursor !== undefined && !isLiveCursor(rest.cursor)
  if (live === false || (live === undefined && isPastLive)) return endedLegs(deps, tenant, rest)
  const page = await liveLegs(deps, tenant, rest)
  if (live === true || page.nextCursor !== null) return page
  return { ...page, nextCursor: ENDED_BEGINNING }
}

export const listCalls: RouteOf<CallListDeps, undefined, CallQuery> = {
  ...searches('calls'),
  path: '/api/v1/voice/calls',
  operationId: 'listCalls',
  summary: 'List calls',
  description:
    'Lists the legs of calls, one per agent and call. Live legs come from the provisioned agents. Ended legs are remembered for ten minutes, and found by ' +
    'their last `call.status` event, about 50 ms after its fan-out, while `GET /webhooks/events` lists it. A page ends after a search of 500 agents or 1,000 ' +
    'events, so it can have fewer items than `limit` and still have a `nextCursor`. A call that begins or ends meanwhile can be ' +
    'missing from the pages, or be on two.',
  query,
  responses: { 200: { description: 'A page of legs.', body: callPageSchema } },
  async handle({ caller: { tenant }, query: asked }, deps) {
    const { items, nextCursor } = await pageOf(deps, tenant, asked)
    return { status: 200, body: { items: await showLegs(deps.platform, tenant, items), nextCursor } }
  },
}

export const readCall: RouteOf<CallListDeps> = {
  ...reads('calls'),
  path: '/api/v1/voice/calls/{callId}',
  operationId: 'readCall',
  summary: 'Read a call',
  description:
    'Returns the legs of all agents in the call, with the same snapshots as the `call.status` events. An ended call is remembered for ten minutes.',
  params: { callId: callIdParam },
  responses: { 200: { description: 'The call.', body: callSchema } },
  failures: ['call-not-found'],
  async handle({ caller: { tenant }, params: { callId } }, { platform, center }) {
    const call = isGuid(callId) ? await center.findCall(tenant, parseCallId(callId)) : undefined
    if (call === undefined || call.isAbandoned) throw new AppError('call-not-found')
    const legs = Object.values(call.legs).map(({ status }) => status)
    return { status: 200, body: { callId: call.callId, legs: await showLegs(platform, tenant, legs) } }
  },
}
