import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AsteriskUnavailable, type StackFile } from '@switchhook/local'
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

type Latencies = Readonly<Record<(typeof COMMANDS)[number], Spread>>

export interface PlatformsFigure {
  readonly simulator: Latencies
  readonly asterisk: Latencies
  /** Part of the machine's processor time that nothing used meanwhile, 0 to 1; null: the system does not say. */
  readonly idle: number | null
}

/**
 * Time from the request of a command to the webhook with the event of its effect, on the simulator and on a real Asterisk with
 * SIP phones: one call at a time on a stack that does nothing else. undefined: Asterisk cannot be started here.
 */
export async function measurePlatforms({ stack, token, say, bringUp }: Bench): Promise<PlatformsFigure | undefined> {
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
  try {
    const asterisk = await meter.during(() =>
      measureOn(pbx, token, async () => {
        await telephones.post('/calls', { number: AGENT.extension, from: CUSTOMER })
      }),
    )
    say(`  asterisk: ${describeLatencies(asterisk)}`)
    return { simulator, asterisk, idle: meter.idle() }
  } finally {
    await telephones.close()
  }
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
  const latenciesMs: Readonly<Record<(typeof COMMANDS)[number], number[]>> = {
    answer: [],
    hold: [],
    resume: [],
    hangup: [],
  }
  try {
    for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round += 1) {
      const alerting = webhook.first(({ data }) => data.state === ALERTING && data.agentUri === AGENT.agentUri)
      await ring(api)
      const { callId } = (await alerting).data
      for (const command of COMMANDS) {
        const sentAtMs = performance.now()
        // The webhook may arrive before the answer to the command.
        const ofCommand = webhook.collect()
        const { commandId } = await api.post(`/api/v1/voice/calls/${callId}/${command}`, { agentUri: AGENT.agentUri })
        const { atMs } = await ofCommand.first(({ data }) => data.commandId === commandId)
        if (round > WARM_UP_ROUNDS) latenciesMs[command].push(atMs - sentAtMs)
      }
    }
  } finally {
    await unsubscribe()
    await api.close()
    webhook.close()
  }
  return {
    answer: spreadOf(latenciesMs.answer),
    hold: spreadOf(latenciesMs.hold),
    resume: spreadOf(latenciesMs.resume),
    hangup: spreadOf(latenciesMs.hangup),
  }
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

/** An endpoint that answers immediately and keeps no events, except those of a collection. */
async function openWebhook() {
  const news = new EventEmitter()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const atMs = performance.now()
      response.writeHead(204).end()
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as Pick<Arrived, 'data'>
      news.emit('arrived', { atMs, data } satisfies Arrived)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function collect() {
    const arrived: Arrived[] = []
    const keep = (one: Arrived): void => void arrived.push(one)
    news.on('arrived', keep)
    return {
      async first(isWanted: (one: Arrived) => boolean): Promise<Arrived> {
        try {
          for (;;) {
            const found = arrived.find(isWanted)
            if (found !== undefined) return found
            await once(news, 'arrived', { signal: AbortSignal.timeout(PATIENCE_MS) })
          }
        } finally {
          news.off('arrived', keep)
        }
      },
    }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/calls`,
    collect,
    first: (isWanted: (one: Arrived) => boolean) => collect().first(isWanted),
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

const describeLatencies = (latencies: Latencies): string =>
  COMMANDS.map((command) => `${command} ${latencies[command].p50Ms} / ${latencies[command].p99Ms} ms`).join(', ')
