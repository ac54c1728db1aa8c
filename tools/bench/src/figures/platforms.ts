import { AsteriskUnavailable, type StackFile } from '@switchhook/local'
import { eventually, startReceiver } from '@switchhook/testkit'
import type { Bench } from '../bench.ts'
import { type JsonClient, openClient } from '../load/client.ts'
import { subscribe } from '../load/subscriptions.ts'
import { createMeter } from '../measure/processor-cost.ts'
import { type Spread, spreadOf } from '../measure/statistics.ts'

const ROUNDS = 100
const WARM_UP_ROUNDS = 10
const PATIENCE_MS = 10_000
/** Alice's phone answers a NOTIFY. She is an agent of the simulator too. */
const AGENT = { agentUri: 'sip:alice@acme.example', extension: '8101' }
const CUSTOMER = '+15559000'
const ALERTING = 2

/** Commands of an incoming call, in their order. */
const COMMANDS = ['answer', 'hold', 'resume', 'hangup'] as const

type Command = (typeof COMMANDS)[number]
type Latencies = Readonly<Record<Command, Spread>>

/**
 * Time from the request of a command to the webhook with the event of its effect, on the simulator and on a real Asterisk with
 * SIP phones: one call at a time on a stack that does nothing else. undefined: Asterisk cannot be started here.
 */
export async function measurePlatforms(bench: Bench) {
  const { stack, token, say, bringUp, defer } = bench
  const meter = createMeter({})
  const simulator = await meter.during(() =>
    measureOn(stack, token, async (api) => {
      await api.post('/simulator/v1/calls', { agentUri: AGENT.agentUri, from: CUSTOMER })
    }),
  )
  say(`  simulator: ${describeLatencies(simulator)}`)
  const pbx = await bringUp({ PLATFORM: 'asterisk' }).catch((error: unknown) => {
    if (!(error instanceof AsteriskUnavailable)) throw error
    say(`  skipped: ${error.message}`)
  })
  if (pbx?.urls.telephones == null) return undefined
  const telephones = openClient(pbx.urls.telephones, 1, null)
  defer(() => telephones.close())
  const asterisk = await meter.during(() =>
    measureOn(pbx, token, async () => {
      await telephones.post('/calls', { number: AGENT.extension, from: CUSTOMER })
    }),
  )
  say(`  asterisk: ${describeLatencies(asterisk)}`)
  return { simulator, asterisk, idle: meter.idle() }
}

/** @param ring a customer calls the agent */
async function measureOn(
  stack: StackFile,
  token: string,
  ring: (api: JsonClient) => Promise<void>,
): Promise<Latencies> {
  const api = openClient(stack.urls.apis[0] ?? '', 2, token)
  const webhook = await openWebhook()
  const unsubscribe = await subscribe(stack, token, [webhook.url])
  const latenciesMs: Readonly<Record<Command, number[]>> = { answer: [], hold: [], resume: [], hangup: [] }
  try {
    for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round += 1) {
      const ofCall = webhook.collect()
      await ring(api)
      const isAlerting = ({ data }: Arrived): boolean => data.state === ALERTING && data.agentUri === AGENT.agentUri
      const { callId } = (await ofCall(isAlerting)).data
      for (const command of COMMANDS) {
        const sentAtMs = performance.now()
        // The webhook may arrive before the answer to the command.
        const ofCommand = webhook.collect()
        const { commandId } = await api.post(`/api/v1/voice/calls/${callId}/${command}`, { agentUri: AGENT.agentUri })
        const { atMs } = await ofCommand(({ data }) => data.commandId === commandId)
        if (round > WARM_UP_ROUNDS) latenciesMs[command].push(atMs - sentAtMs)
      }
    }
  } finally {
    await unsubscribe()
    await api.close()
    await webhook.close()
  }
  return Object.fromEntries(COMMANDS.map((command) => [command, spreadOf(latenciesMs[command])])) as Latencies
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

/** An endpoint that answers immediately. */
async function openWebhook() {
  const arrived: Arrived[] = []
  const receiver = await startReceiver(({ body }) => {
    const { data } = JSON.parse(body.toString()) as Pick<Arrived, 'data'>
    arrived.push({ atMs: performance.now(), data })
    return {}
  })
  return {
    url: receiver.url('/calls'),
    close: () => receiver.close(),
    /** What arrives from now on. Resolves to the first event that is wanted. */
    collect: () => {
      const from = arrived.length
      return (isWanted: (one: Arrived) => boolean): Promise<Arrived> =>
        eventually(
          () => {
            const found = arrived.slice(from).find(isWanted)
            if (found === undefined) throw new Error('the webhook has not arrived')
            return found
          },
          { timeoutMs: PATIENCE_MS, intervalMs: 1 },
        )
    },
  }
}

const describeLatencies = (latencies: Latencies): string =>
  COMMANDS.map((command) => `${command} ${latencies[command].p50Ms} / ${latencies[command].p99Ms} ms`).join(', ')
