import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { manyPeople, type Person } from '@switchhook/local'
import { integer, loadConfig, optional, text } from '@switchhook/runtime'
import { waitUntil } from '@switchhook/test-servers'
import { createRandom } from '../faults/random.ts'
import { openClient } from '../load/client.ts'
import { someOf } from '../options.ts'
import { problemsOf } from '../reconcile/problem.ts'
import { conclude } from '../report.ts'
import { startAsteriskStack } from './asterisk-stack.ts'
import { checkCalls } from './check-calls.ts'
import { openDesk } from './desk.ts'
import { ASTERISK_FAULTS, disturb } from './faults.ts'
import { startAsteriskLoad } from './load.ts'

const fields = {
  KILLS: integer({ min: 0, max: 1_000 }, 12),
  SEED: optional(integer({ min: 0, max: 999_999_999 })),
  FAULTS: someOf(ASTERISK_FAULTS),
  /** Agents, each of whom is in a call most of the time. */
  CALLS: integer({ min: 1, max: 150 }, 12),
  /** How long the load runs without faults, before the first one. */
  SECONDS: integer({ min: 1, max: 3_600 }, 10),
  /** How long an agent talks. With 30, nearly all agents are in a call at the same time. */
  TALK_SECONDS: integer({ min: 1, max: 600 }, 2),
  SWITCHHOOK_HOME: text('.local'),
}

/** Two reconciliations, which run every 30 s. */
const QUIET_WITHIN_MS = 75_000
const SETTINGS = {
  WRAP_UP_SECONDS: '0',
  RATE_LIMIT: 'off',
  DELIVERY_TIMEOUT: '3s',
  SHUTDOWN_GRACE: '8s',
  DELIVERY_RETRY_WAITS: '1s,1s,2s',
}

/** Calls on real SIP phones under faults, compared with Asterisk's own log of its channels. */
export async function runAsterisk(signal: AbortSignal): Promise<void> {
  const config = loadConfig(fields, process.env)
  const seed = config.SEED ?? randomInt(999_999_999)
  const folder = join(config.SWITCHHOOK_HOME, 'chaos-asterisk')
  const random = createRandom(seed)
  const people = manyPeople(config.CALLS)
  console.log(`SEED=${seed} KILLS=${config.KILLS} CALLS=${config.CALLS}`)
  await using stack = await startAsteriskStack(folder, SETTINGS, people)
  await using desk = await openDesk(openClient(stack.apis, stack.devIdp, random), stack.telephonesUrl, people)
  const load = startAsteriskLoad(desk, people, random, config.TALK_SECONDS * 1_000)
  await sleep(config.SECONDS * 1_000, undefined, { signal }).catch(() => undefined)
  const killsAtMs: number[] = []
  const around = { stack, desk, people, random, killsAtMs }
  const disturbances = await disturb(around, config.KILLS, config.FAULTS, signal)
  await load.stop()

  const isFree = ({ agentUri }: Person): boolean => desk.live(agentUri).length === 0
  const isQuiet = async (): Promise<boolean> => people.every(isFree) && (await stack.leftovers()) === 0
  await waitUntil(isQuiet, QUIET_WITHIN_MS, 500)
  const leftovers = await stack.leftovers()
  const { events } = desk
  const { dialled } = load
  const channels = stack.channelLog()
  const endpoints = new Map(people.map(({ agentUri, name }) => [agentUri, name]))
  const problems = [
    ...problemsOf('process', await stack.unexpectedExits()),
    ...problemsOf('differs from Asterisk', [
      ...(leftovers === 0 ? [] : [`${leftovers} channels and bridges are left over in Asterisk`]),
      ...checkCalls({ events, dialled, channels, disturbances, killsAtMs, endpoints }),
    ]),
  ]
  /** Of commands that were sent while nothing was disturbed, ascending. */
  const latenciesMs = desk
    .latencies()
    .filter(({ sentAtMs }) => !disturbances.some(({ fromMs, toMs }) => sentAtMs >= fromMs && sentAtMs <= toMs))
    .map(({ ms }) => ms)
    .toSorted((a, b) => a - b)
  const quantile = (share: number): string => `${latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? '-'} ms`
  conclude(
    [
      ['legs reported', new Set(events.map(({ callId, agentUri }) => `${callId} ${agentUri}`)).size],
      ['calls connected', `${load.talks()}, at most ${load.mostAtOnce()} at a time`],
      ['channels in Asterisk', channels.length],
      ['command to its webhook', `median ${quantile(0.5)}, p99 ${quantile(0.99)} (${latenciesMs.length} commands)`],
    ],
    problems,
    {
      good: 'every leg ended exactly once, as in Asterisk',
      bad: `something is wrong; to repeat these faults: SEED=${seed}`,
    },
  )
}
