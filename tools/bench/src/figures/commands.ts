import type { Bench } from '../bench.ts'
import { type JsonClient, openClient } from '../load/client.ts'
import { applyLoad, type Load, type Round, timed } from '../load/load.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { median, percentile, round } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'
import { pidsOf } from './stack-pids.ts'

export const AGENTS = 1_000
/** Concurrent clients without think time. */
const CLIENTS = [32, 128] as const
const RUNS = 3
const WARM_UP_MS = 2_000

/** Rates and latencies of one side: medians of the runs. */
export interface Side {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly runs: readonly number[]
  /** Processor time of a command by process, in µs. */
  readonly costUs: CostUs
}

/**
 * Commands per second that the api accepts, from 1 000 agents on the simulator. Runs alternate with a bare Express
 * server that makes one write to the same Redis.
 */
export async function measureCommands(bench: Bench) {
  const byClients = []
  for (const clients of CLIENTS) {
    const { commands, baseline } = await measureRates(bench, clients)
    // The ratio is that of the commands to the baseline's writes, per second.
    byClients.push({ clients, commands, baseline, ratio: round(commands.perSecond / baseline.perSecond, 2) })
  }
  return { byClients }
}

async function measureRates(
  { stack, token, say, options }: Bench,
  clients: number,
): Promise<{ commands: Side; baseline: Side }> {
  const bare = await startChild('bare-server.js', [stack.urls.redis])
  const api = openClient(stack.urls.apis[0] ?? '', clients, token)
  const baseline = openClient(`http://127.0.0.1:${bare.ready['port']}`, clients, null)
  const times = { warmUpMs: WARM_UP_MS, measureMs: options.RUN_TIME }
  const ours = createSide({ ...pidsOf(stack, 'api', 'rabbitmq', 'redis', 'fanout'), clients: [process.pid] })
  const theirs = createSide({ server: [bare.pid], ...pidsOf(stack, 'redis'), clients: [process.pid] })
  try {
    for (let run = 1; run <= RUNS; run++) {
      await theirs.run(() => applyLoad(bareRounds(baseline, clients), times))
      await ours.run(() => applyLoad(deskRounds(api, clients), times))
      say(
        `  ${clients} clients, run ${run} of ${RUNS}: ${ours.last()} commands/s, bare server ${theirs.last()} requests/s`,
      )
    }
    return { commands: ours.side(), baseline: theirs.side() }
  } finally {
    await Promise.all([api.close(), baseline.close()])
    await bare.stop()
  }
}

function createSide(parts: Readonly<Record<string, readonly number[]>>) {
  const loads: Load[] = []
  const meter = createMeter(parts)
  const rates = (): number[] => loads.map(({ perSecond }) => round(perSecond, 0))
  return {
    async run(load: () => Promise<Load>): Promise<void> {
      loads.push(await meter.during(load))
    },
    last: () => rates().at(-1) ?? 0,
    side: (): Side => ({
      perSecond: median(rates()),
      p50Ms: round(median(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.5)))),
      p99Ms: round(median(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.99)))),
      runs: rates(),
      costUs: meter.costUs(loads.reduce((sum, { allRequests }) => sum + allRequests, 0)),
    }),
  }
}

export const agentUri = (n: number): string => `sip:agent-${(n % AGENTS) + 1}@acme.example`
const command = (callId: unknown, name: string): string => `/api/v1/voice/calls/${String(callId)}/${name}`

/**
 * An incoming call is answered, held, resumed and hung up; then the agent dials, and hangs up: six commands. Each client has
 * its own agents, so that no agent is in two calls.
 */
function deskRounds(api: JsonClient, clients: number): readonly Round[] {
  return Array.from({ length: clients }, (_, client) => {
    let next = client
    return async (note) => {
      const body = { agentUri: agentUri(next) }
      next += clients
      const { callId } = await api.post('/simulator/v1/calls', { ...body, from: '+15559000' })
      for (const name of ['answer', 'hold', 'resume', 'hangup']) {
        await timed(note, () => api.post(command(callId, name), body))
      }
      const dialled = await timed(note, () =>
        api.post('/api/v1/voice/calls/dial', { ...body, destination: '+15550102' }),
      )
      await timed(note, () => api.post(command(dialled['callId'], 'hangup'), body))
    }
  })
}

function bareRounds(baseline: JsonClient, clients: number): readonly Round[] {
  return Array.from({ length: clients }, (_, client) => async (note) => {
    await timed(note, () => baseline.post('/command', { agentUri: agentUri(client) }))
  })
}
