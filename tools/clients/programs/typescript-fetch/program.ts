import * as api from './index.js'

const AGENT = 'sip:alice@acme.example'
const env = process.env as Record<string, string>

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

async function main(): Promise<void> {
  const form = {
    grant_type: 'client_credentials',
    client_id: 'acme-app',
    client_secret: 'acme-secret',
    scope: 'switchhook/.default',
  }
  const answer = await fetch(env['TOKEN_URL'] ?? '', { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: accessToken } = (await answer.json()) as { access_token: string }
  const clientOf = (basePath: string | undefined) => new api.Configuration({ basePath: basePath ?? '', accessToken })
  const config = clientOf(env['API'])
  const subscriptions = new api.SubscriptionsApi(config)
  const deliveries = new api.DeliveriesApi(config)
  const agents = new api.AgentsApi(config)
  const calls = new api.CallsApi(config)

  const created = await subscriptions.createSubscription({
    subscriptionInput: {
      url: env['HOOK'],
      eventTypes: ['call.status'],
      description: 'typescript',
      filter: { 'call.status': { state: [7] } },
    },
  })
  const other = await subscriptions.createSubscription({
    subscriptionInput: { mode: 'pull', eventTypes: ['agent.status'] },
  })
  const listed: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await subscriptions.listSubscriptionsRaw({ limit: 1, cursor })
    listed.push(...(await page.value()).map(({ id }) => id))
    cursor = page.raw.headers.get('next-cursor') ?? undefined
    if (cursor === undefined) break
  }
  check(
    [created.id, other.id].every((id) => listed.includes(id)),
    'list over pages',
  )
  const changed = await subscriptions.changeSubscription({
    id: created.id,
    subscriptionChange: { description: 'changed' },
  })
  check(
    changed.description === 'changed' && changed.eventTypes[0] === 'call.status' && changed.filter !== null,
    'patch',
  )

  const accepted = await calls.dial({
    dialCommand: { agentUri: AGENT, destination: '+15550101' },
    idempotencyKey: crypto.randomUUID(),
  })
  check((await agents.readCallState({ agentUri: AGENT })).agentUri === AGENT, 'call state')
  const parked = async (run: number): Promise<api.DeliverySummary> => {
    for (let i = 0; i < 100; i++) {
      const page = await deliveries.listDeliveries({
        id: created.id,
        state: 'parked',
        from: new Date(Date.now() - 3_600_000),
      })
      const found = page.items.find((item) => item.run >= run)
      if (found) return found
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    throw new Error('no delivery was parked')
  }
  const first = await parked(1)
  check(first.attempts[0]?.status === 400, 'attempt')
  const call = await calls.readCall({ callId: accepted.callId })
  check(call.legs[0]?.state === api.CallStateNumber.CALL_STATE_ENDED, 'state of the call')
  check(
    (await agents.setPresence({ agentUri: AGENT, presenceSetting: { statusCode: '66' } })).statusCode === 66,
    'presence',
  )
  await agents.setPresence({ agentUri: AGENT, presenceSetting: { statusCode: '2' } })

  const { ORIGINAL_CALL = '', CONSULTATION_CALL = '', TARGET } = env
  const original = (await calls.readCall({ callId: ORIGINAL_CALL })).legs[0]?.consultation
  check(original?.callId === CONSULTATION_CALL && original.target === TARGET, 'original call')
  const consultation = (await calls.readCall({ callId: CONSULTATION_CALL })).legs[0]?.consultation
  check(consultation?.forCallId === ORIGINAL_CALL && consultation.callId === undefined, 'consultation')
  check((await deliveries.readPolicy()).retention.parkedMs === 30 * 86_400_000, 'policy')

  check((await deliveries.redeliver({ deliveryId: first.deliveryId })).run === 2, 'redeliver')
  await parked(2)
  check((await deliveries.previewRecovery({ id: created.id, recoveryInput: {} })).count === 1, 'preview')
  check((await deliveries.recover({ id: created.id, recoveryInput: {} })).found === 1, 'recover')
  const error = await subscriptions.readSubscription({ id: crypto.randomUUID() }).catch((reason: unknown) => reason)
  const problem = api.ProblemFromJSON(error instanceof api.ResponseError && (await error.response.json()))
  check(problem.code === 'subscription-not-found', 'code')

  const later = clientOf(env['CHANGED_API'])
  check((await new api.AgentsApi(later).readAgentState({ agentUri: AGENT })).deviceStatus === 99, 'an unknown number')
  check(
    (await new api.SubscriptionsApi(later).readSubscription({ id: created.id })).health.state === 'later',
    'an unknown value',
  )
  check(
    (await new api.DeliveriesApi(later).listDeliveries({ id: created.id, state: 'any' })).items.length > 0,
    'unknown fields',
  )
  check((await new api.CallsApi(later).listCalls()).items.length > 0, 'calls with unknown values')
  for (const { id } of [created, other]) await subscriptions.deleteSubscription({ id })
}

void main()
