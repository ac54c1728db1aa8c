import { CallState } from '@switchhook/contracts'
import { AsteriskUnavailable, type StackFile } from '@switchhook/local'
import { eventually, startReceiver } from '@switchhook/testkit'
import { type Bench, closing } from '../bench.ts'
import { type JsonClient, openApi, openClient, subscribe } from '../load/client.ts'
import { createMeter } from '../measure/processor-cost.ts'
import { mapValues, spreadOf } from '../measure/statistics.ts'

const ROUNDS = 100
const WARM_UP_ROUNDS = 10
const PATIENCE_MS = 10_000
/** Alice's phone answers a NOTIFY. She is an agent of the simulator too. */
const AGENT = { agentUri: 'sip:alice@acme.example', extension: '8101' }
const CUSTOMER = '+15559000'

/** Commands of an incoming call, in their order. */
const COMMANDS = ['answer', 'hold', 'resume', 'hangup'] as const

/**
 * Time from the request of a command to the webhook with the event of its effect, on the simulator and on a real Asterisk with
 * SIP phones: one call at a time on a stack that does nothing else. undefined: Asterisk cannot be started here.
 */
export async function measurePlatforms(bench: Bench) {
  const { say, bringUp, defer } = bench
  const meter = createMeter({})
  const measure = (stack: StackFile, ring: (api: JsonClient) => Promise<unknown>) =>
    meter.during(() => closing({ ...bench, stack }, (part) => measureOn(part, ring)))
  const simulator = await measure(bench.stack, (api) =>
    api.post('/simulator/v1/calls', { agentUri: AGENT.agentUri, from: CUSTOMER }),
  )
  say('  Asterisk')
  const pbx = await bringUp({ PLATFORM: 'asterisk' }).catch((error: unknown) => {
    if (!(error instanceof AsteriskUnavailable)) throw error
    say(`  skipped: ${error.message}`)
  })
  if (pbx?.urls.telephones == null) return undefined
  const telephones = openClient(pbx.urls.telephones, 1, null)
  defer(() => telephones.close())
  const asterisk = await measure(pbx, () => telephones.post('/calls', { number: AGENT.extension, from: CUSTOMER }))
  return { simulator, asterisk, idle: meter.idle() }
}

/** @param ring a customer calls the agent */
async function measureOn(part: Bench, ring: (api: JsonClient) => Promise<unknown>) {
  const arrived: Arrived[] = []
  const receiver = await startReceiver(({ body }) => {
    const { data } = JSON.parse(body.toString()) as Pick<Arrived, 'data'>
    arrived.push({ atMs: performance.now(), data })
    return {}
  })
  part.defer(() => receiver.close())
  const api = await openApi(part, 2)
  await subscribe(part, [receiver.url('/calls')])
  /** Resolves to the first wanted event of those after the first `from`. */
  const arrival = (from: number, isWanted: (one: Arrived) => boolean): Promise<Arrived> =>
    eventually(
      () => {
        const found = arrived.slice(from).find(isWanted)
        if (found === undefined) throw new Error('the webhook has not arrived')
        return found
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 1 },
    )
  const latenciesMs: Record<(typeof COMMANDS)[number], number[]> = { answer: [], hold: [], resume: [], hangup: [] }
  for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const beforeCall = arrived.length
    await ring(api)
    const isAlerting = ({ data }: Arrived): boolean =>
      data.state === CallState.alerting && data.agentUri === AGENT.agentUri
    const { callId } = (await arrival(beforeCall, isAlerting)).data
    for (const command of COMMANDS) {
      const sentAtMs = performance.now()
      // The webhook may arrive before the answer to the command.
      const before = arrived.length
      const { commandId } = await api.post(`/api/v1/voice/calls/${callId}/${command}`, { agentUri: AGENT.agentUri })
      const { atMs } = await arrival(before, ({ data }) => data.commandId === commandId)
      if (round > WARM_UP_ROUNDS) latenciesMs[command].push(atMs - sentAtMs)
    }
  }
  return mapValues(latenciesMs, spreadOf)
}

interface Arrived {
  /** Of the monotonic clock. */
  readonly atMs: number
  readonly data: {
    readonly callId: string
    readonly agentUri: string
    readonly state: number
    readonly commandId: string | null
  }
}
