import type { Base } from './base.ts'
import { openPlatform } from './contact-center/open-contact-center.ts'
import { simulator } from './contact-center/simulator/simulator-routes.ts'
import { SPECS } from './describe-api.ts'
import { AUDIT_ACTIONS } from './http/audit-action.ts'
import type { State } from './state/state.ts'

async function simulatorPaths(NODE_ENV: 'production' | 'development'): Promise<string[]> {
  const config = { PLATFORM: 'simulator', SIMULATOR_AGENTS: [], NODE_ENV }
  const contactCenter = openPlatform({ config } as unknown as Base, {} as State, async () => 'conflict')
  return (await simulator.open({ contactCenter })).routes.map(({ path }) => path)
}

test('in production the development routes of the simulator do not exist', async () => {
  expect(await simulatorPaths('production')).toEqual([])
  expect(await simulatorPaths('development')).toContain('/simulator/v1/calls')
})

test('only the documents, the sign-in and the simulator can be used without a token', () => {
  const open = SPECS.filter(({ isPublic }) => isPublic === true)
  expect(open.map(({ path }) => path).toSorted()).toEqual([
    '/api/v1/asyncapi.json',
    '/api/v1/openapi.json',
    '/api/v1/sign-in',
    '/simulator/v1/agents/{agentUri}/device',
    '/simulator/v1/calls',
    '/simulator/v1/calls/{callId}/remote',
  ])
})

/** A preview takes a body, and changes nothing. */
const isReading = ({ method, operationId }: (typeof SPECS)[number]): boolean =>
  method === 'get' || operationId.startsWith('preview')

test('every route that needs a token names the role that it needs, and a viewer can read everything', () => {
  const closed = SPECS.filter(({ isPublic }) => isPublic !== true)
  expect(closed.filter(({ role }) => role === undefined).map(({ operationId }) => operationId)).toEqual([])
  const forViewers = closed.filter(({ role }) => role === 'viewer').map(({ operationId }) => operationId)
  expect(forViewers).toEqual(closed.filter(isReading).map(({ operationId }) => operationId))
})

test('the routes that read or search hundreds of records are expensive', () => {
  const expensive = SPECS.filter(({ isExpensive }) => isExpensive === true).map(({ operationId }) => operationId)
  expect(expensive).toEqual([
    'listSubscriptions',
    'previewFilter',
    'listDeliveries',
    'listTenantDeliveries',
    'listEvents',
    'explainEvent',
    'recover',
    'previewRecovery',
    'backfill',
    'previewBackfill',
    'readSummary',
    'listParkedCauses',
    'readStatistics',
    'listCalls',
    'listAuditEntries',
  ])
})

test('with a token, only an operator uses the simulator', () => {
  const open = SPECS.filter(({ isPublic, role }) => isPublic === true && role !== undefined)
  expect(open.map(({ operationId, role }) => [operationId, role])).toEqual([
    ['simulateCall', 'operator'],
    ['simulateRemote', 'operator'],
    ['simulateDevice', 'operator'],
  ])
})

test('only an admin changes and deletes subscriptions and rotates their secrets', () => {
  const forAdmins = SPECS.filter(({ role }) => role === 'admin').map(({ operationId }) => operationId)
  // createSubscription is refused by its handler: an operator may create a pull subscription that expires.
  expect(forAdmins).toEqual(['changeSubscription', 'deleteSubscription', 'rotateSubscriptionSecret'])
})

test('each route that changes, sends or commands something names its own action in the audit log', () => {
  // The attempts of a delivery show who received it, and with which outcome.
  const receiving = ['receiveDeliveries', 'reportOutcomes']
  const changing = SPECS.filter(
    (spec) => spec.path.startsWith('/api/v1/') && !isReading(spec) && !receiving.includes(spec.operationId),
  )
  expect(changing.length).toBeGreaterThan(10)
  const unnamed = changing.filter(({ audit }) => audit === undefined || !AUDIT_ACTIONS.includes(audit.action))
  expect(unnamed.map(({ operationId }) => operationId)).toEqual([])
  expect(new Set(changing.map(({ audit }) => audit?.action)).size).toBe(changing.length)
  expect(SPECS.filter(({ audit }) => audit !== undefined)).toEqual(changing)
})

test('each of them names ids from its path or from its answer', () => {
  for (const { operationId, audit, params = {}, responses } of SPECS) {
    const answers = Object.values(responses).map(({ body }) => body?.['properties'] ?? {})
    const { id: subscriptionId, ...others }: Readonly<Record<string, unknown>> = Object.assign({}, params, ...answers)
    const known = Object.keys({ ...(subscriptionId !== undefined && { subscriptionId }), ...others })
    const ids = audit?.ids ?? []
    // Every command of a call names it; only a transfer has a consultation call.
    const isMissing = (name: string): boolean => name !== 'consultationCallId' || operationId === 'transfer'
    const unknown = ids.filter((name) => !known.includes(name)).filter(isMissing)
    expect([operationId, unknown, ids.filter((name) => !/(?:Id|Uri)$/.test(name))]).toEqual([operationId, [], []])
    expect([operationId, ids.length > 0]).toEqual([operationId, audit !== undefined])
  }
})
