import { type Bench, closing } from '../bench.ts'
import { type JsonClient, openApi, openClient } from '../load/client.ts'
import { createMeter, pidsOf } from '../measure/processor-cost.ts'
import { median, medianSpread, round, type Spread, spreadOf } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'

export const AGENTS = 1_000
/** Concurrent clients without think time. */
const CLIENTS = [32, 128] as const
const RUNS = 3
const WARM_UP_MS = 2_000

/**
 * Commands per second that the api accepts, from 1 000 agents on the simulator. Runs alternate with a bare Express
 * server that makes one write to the same Redis.
 */
export async function measureCommands(bench: Bench) {
  const byClients = []
  for (const clients of CLIENTS) byClients.push(await closing(bench, (part) => measureRates(part, clients)))
  return { byClients }
}

async function measureRates(bench: Bench, clients: number) {
  const { stack, say, options, defer } = bench
  const bare = await startChild(bench, 'bare-server.js', [stack.urls.redis])
  const api = await openApi(bench, clients)
  const server = openClient(`http://127.0.0.1:${bare.ready['port']}`, clients, null)
  defer(() => server.close())
  const ours = createSide(pidsOf(stack, 'api', 'rabbitmq', 'redis', 'fanout'), clients, deskTurn(api, clients))
  const theirs = createSide({ server: [bare.pid], ...pidsOf(stack, 'redis') }, clients, async (client, _n, timed) => {
    await timed(() => server.post('/command', { agentUri: agentUri(client) }))
  })
  for (let run = 1; run <= RUNS; run++) {
    await theirs.run(options.RUN_TIME)
    await ours.run(options.RUN_TIME)
    say(`  ${clients} clients, run ${run} of ${RUNS}`)
  }
  const [commands, baseline] = [ours.side(), theirs.side()]
  /** Of the commands to the baseline's writes, per second. */
  const ratio = round(commands.perSecond / baseline.perSecond, 2)
  return { clients, commands, baseline, ratio }
}

/** The nth turn of a client: requests one after the other, each with its latency noted. */
type Turn = (client: number, n: number, timed: Timed) => Promise<void>
type Timed = <T>(work: () => Promise<T>) => Promise<T>

/** Closed loop: every client repeats its turn without think time, each request waiting for its answer. */
function createSide(parts: Readonly<Record<string, readonly number[]>>, clients: number, turn: Turn) {
  const runs: number[] = []
  const spreads: Spread[] = []
  const meter = createMeter({ ...parts, clients: [process.pid] })
  /** Warm-up included: what the processor time was spent on. */
  let allRequests = 0

  async function load(runMs: number): Promise<void> {
    const latenciesMs: number[] = []
    const from = performance.now() + WARM_UP_MS
    const to = from + runMs
    const timed: Timed = async (work) => {
      const startedAt = performance.now()
      const result = await work()
      const now = performance.now()
      allRequests += 1
      if (now >= from && now <= to) latenciesMs.push(now - startedAt)
      return result
    }
    const repeat = async (client: number): Promise<void> => {
      for (let n = 0; performance.now() < to; n++) await turn(client, n, timed)
    }
    await Promise.all(Array.from({ length: clients }, (_, client) => repeat(client)))
    runs.push(round((latenciesMs.length * 1_000) / runMs, 0))
    spreads.push(spreadOf(latenciesMs))
  }

  return {
    run: (runMs: number): Promise<void> => meter.during(() => load(runMs)),
    /** Rates and latencies: medians of the runs. */
    side: () => {
      const { p50Ms, p99Ms } = medianSpread(spreads)
      // Processor time of a request by process, in µs.
      return { perSecond: median(runs), p50Ms, p99Ms, runs, costUs: meter.costUs(allRequests) }
    },
  }
}

export const agentUri = (n: number): string => `sip:agent-${(n % AGENTS) + 1}@acme.example`
const command = (callId: unknown, name: string): string => `/api/v1/voice/calls/${String(callId)}/${name}`

/**
 * An incoming call is answered, held, resumed and hung up; then the agent dials, and hangs up: six commands. Each client has
 * its own agents, so that no agent is in two calls.
 */
const deskTurn =
  (api: JsonClient, clients: number): Turn =>
  async (client, n, timed) => {
    const body = { agentUri: agentUri(client + n * clients) }
    const { callId } = await api.post('/simulator/v1/calls', { ...body, from: '+15559000' })
    for (const name of ['answer', 'hold', 'resume', 'hangup']) {
      await timed(() => api.post(command(callId, name), body))
    }
    const dialled = await timed(() => api.post('/api/v1/voice/calls/dial', { ...body, destination: '+15550102' }))
    await timed(() => api.post(command(dialled['callId'], 'hangup'), body))
  }
