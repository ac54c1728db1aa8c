import { type StackFile } from '@switchhook/local'
import { Redis } from 'ioredis'
import { type JsonClient, openClient } from '../load/client.ts'
import { type EventTap, openEventTap } from '../load/event-tap.ts'
import { applyLoad, type Load, type Turn, timed } from '../load/load.ts'
import { countCalls } from '../measure/redis-calls.ts'
import { median, percentile, round } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'
import { checkEvents, type EventVerdict } from './check-events.ts'

export const AGENTS = 1_000
const CLIENTS = 32
const RUNS = 3
const TIMES = { warmUpMs: 2_000, measureMs: 8_000 }
/** For the cost per command: enough to see fractions. */
const COUNTED = 50

/** Rates and latencies of one side; medians over the runs. */
interface Side {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly runs: readonly number[]
}

export interface CommandsFigure {
  readonly agents: number
  readonly clients: number
  readonly commands: Side
  readonly baseline: Side
  /** Commands per second to the baseline's writes per second. */
  readonly ratio: number
  readonly events: EventVerdict & { readonly commands: number }
  /** Calls to Redis per command: reads of records, and scripts that write them. */
  readonly redisCalls: Readonly<Record<string, { readonly reads: number; readonly writes: number }>>
}

/** A call that comes in is answered, held, resumed and hung up; then the agent dials, and hangs up: six commands. */
const COMMANDS_PER_TURN = 6

/**
 * How many commands a second the api accepts, and what became of them: 1 000 agents on the simulator, clients without
 * think time. Beside it, in the same run and in turn with it, a bare server that does one write to the same Redis.
 */
export async function measureCommands(
  stack: StackFile,
  token: string,
  say: (line: string) => void,
): Promise<CommandsFigure> {
  const api = openClient(stack.urls.apis[0] ?? '', CLIENTS, token)
  const bare = await startChild('bare-server.js', [stack.urls.redis])
  const baseline = openClient(`http://127.0.0.1:${bare.ready['port']}`, CLIENTS, null)
  const tap = stack.urls.rabbitmqManagement === null ? null : await openEventTap(stack.urls.rabbitmqManagement)
  const redis = new Redis(stack.urls.redis)
  try {
    const ours: Load[] = []
    const theirs: Load[] = []
    const counter = { turns: 0 }
    for (let run = 1; run <= RUNS; run++) {
      theirs.push(await applyLoad(bareTurns(baseline), TIMES))
      ours.push(await applyLoad(deskTurns(api, counter), TIMES))
      say(
        `  run ${run} of ${RUNS}: ${round(ours.at(-1)?.perSecond ?? 0, 0)} commands/s, bare ${round(theirs.at(-1)?.perSecond ?? 0, 0)}/s`,
      )
    }
    const commands = sideOf(ours)
    const other = sideOf(theirs)
    const events = checkEvents(tap === null ? [] : await settle(tap))
    say(
      `  ${events.events} events: ${events.missing} missing, ${events.doubled} twice, ${events.unended} legs without an end`,
    )
    return {
      agents: AGENTS,
      clients: CLIENTS,
      commands,
      baseline: other,
      ratio: round(commands.perSecond / other.perSecond, 2),
      events: { ...events, commands: counter.turns * COMMANDS_PER_TURN },
      redisCalls: await countPerCommand(redis, api),
    }
  } finally {
    redis.disconnect()
    await tap?.close()
    await Promise.all([api.close(), baseline.close()])
    await bare.stop()
  }
}

const agentUri = (n: number): string => `sip:agent-${(n % AGENTS) + 1}@acme.example`
const command = (callId: unknown, name: string): string => `/api/v1/voice/calls/${String(callId)}/${name}`

/** Each client has agents of its own, so that no agent is in two calls. */
function deskTurns(api: JsonClient, counter: { turns: number }): readonly Turn[] {
  return Array.from({ length: CLIENTS }, (_, client) => {
    let next = client
    return async (note) => {
      const body = { agentUri: agentUri(next) }
      next += CLIENTS
      const { callId } = await api.post('/simulator/v1/calls', { ...body, from: '+15559000' })
      for (const name of ['answer', 'hold', 'resume', 'hangup']) {
        await timed(note, name, () => api.post(command(callId, name), body))
      }
      const dialled = await timed(note, 'dial', () =>
        api.post('/api/v1/voice/calls/dial', { ...body, destination: '+15550102' }),
      )
      await timed(note, 'hangup', () => api.post(command(dialled['callId'], 'hangup'), body))
      counter.turns += 1
    }
  })
}

function bareTurns(baseline: JsonClient): readonly Turn[] {
  return Array.from({ length: CLIENTS }, (_, client) => async (note) => {
    await timed(note, 'command', () => baseline.post('/command', { agentUri: agentUri(client) }))
  })
}

function sideOf(loads: readonly Load[]): Side {
  const runs = loads.map(({ perSecond }) => round(perSecond, 0))
  return {
    perSecond: median(runs),
    p50Ms: round(median(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.5)))),
    p99Ms: round(median(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.99)))),
    runs,
  }
}

/** Takes events until no more come. */
async function settle(tap: EventTap) {
  const events = [...(await tap.take())]
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const more = await tap.take()
    if (more.length === 0) return events
    events.push(...more)
  }
}

/** One command at a time, on a stack that does nothing else. */
async function countPerCommand(redis: Redis, api: JsonClient): Promise<CommandsFigure['redisCalls']> {
  const bodies = Array.from({ length: COUNTED }, (_, n) => ({ agentUri: agentUri(n) }))
  const callIds: unknown[] = []
  for (const body of bodies) {
    callIds.push((await api.post('/simulator/v1/calls', { ...body, from: '+15559000' }))['callId'])
  }
  const costs: Record<string, { reads: number; writes: number }> = {}
  for (const name of ['answer', 'hold', 'resume', 'hangup']) {
    const { reads, writes } = await countCalls(redis, async () => {
      for (const [n, body] of bodies.entries()) await api.post(command(callIds[n], name), body)
    })
    costs[name] = { reads: round(reads / COUNTED), writes: round(writes / COUNTED) }
  }
  return costs
}
