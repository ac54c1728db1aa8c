import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { manyPeople, type Person } from '@switchhook/local'
import { type Config, integer, loadConfig, optional, text } from '@switchhook/runtime'
import { waitUntil } from '@switchhook/test-servers'
import { createRandom, type Random } from '../faults/random.ts'
import { openClient } from '../load/client.ts'
import { someOf } from '../options.ts'
import { type AsteriskStack, startAsteriskStack } from './asterisk-stack.ts'
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

/**
 * Calls on real SIP phones under faults, compared with Asterisk's own log of its channels.
 * @returns whether everything was right
 */
export async function runAsterisk(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<boolean> {
  const config = loadConfig(fields, env)
  const seed = config.SEED ?? randomInt(999_999_999)
  const folder = join(config.SWITCHHOOK_HOME, 'chaos-asterisk')
  const random = createRandom(seed)
  const [first, ...others] = manyPeople(config.CALLS)
  if (first === undefined) throw new Error('there are no agents')
  const people = [first, ...others] as const
  say(`SEED=${seed} KILLS=${config.KILLS} CALLS=${config.CALLS}`)
  const stack = await startAsteriskStack(folder, { ...env, ...SETTINGS }, people, say)
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => {
    throw new Error('interrupted: nothing was compared')
  })
  try {
    const result = await Promise.race([runOn(stack, { ...config, people, random, say }), interrupted])
    for (const line of describeResult(result)) say(line)
    if (isRight(result)) return true
    say(`something is wrong; to repeat these faults: SEED=${seed}`)
    return false
  } finally {
    await stack.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Run extends Pick<Config<typeof fields>, 'KILLS' | 'FAULTS' | 'SECONDS' | 'TALK_SECONDS'> {
  readonly people: readonly [Person, ...Person[]]
  readonly random: Random
  readonly say: (line: string) => void
}

/** Load, then faults under load, then quiet. Resolves to the comparison with Asterisk. */
async function runOn(stack: AsteriskStack, { people, random, say, ...config }: Run) {
  const desk = await openDesk(await openClient(stack.apis, stack.devIdp, random), stack.telephonesUrl, people)
  try {
    const load = startAsteriskLoad(desk, people, random, config.TALK_SECONDS * 1_000)
    await sleep(config.SECONDS * 1_000)
    const killsAtMs: number[] = []
    const noteKill = (): void => void killsAtMs.push(Date.now())
    const around = { stack, desk, people, random, noteKill }
    const disturbances = await disturb(around, config.KILLS, config.FAULTS, say)
    await load.stop()

    const isFree = ({ agentUri }: Person): boolean => desk.live(agentUri).length === 0
    const isQuiet = async (): Promise<boolean> => people.every(isFree) && (await stack.leftovers()) === 0
    await waitUntil(isQuiet, QUIET_WITHIN_MS, 500)
    const endpoints = new Map(people.map(({ agentUri, name }) => [agentUri, name]))
    const { events } = desk
    const channels = stack.channelLog()
    const isUndisturbed = ({ sentAtMs }: { readonly sentAtMs: number }): boolean =>
      !disturbances.some(({ fromMs, toMs }) => sentAtMs >= fromMs && sentAtMs <= toMs)
    return {
      /** Legs that the subscriber received events of. */
      legs: new Set(events.map(({ callId, agentUri }) => `${callId} ${agentUri}`)).size,
      channels: channels.length,
      talks: load.talks(),
      mostAtOnce: load.mostAtOnce(),
      /** Of commands that were sent while nothing was disturbed, ascending. */
      latenciesMs: desk
        .latencies()
        .filter(isUndisturbed)
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b),
      leftovers: await stack.leftovers(),
      problems: checkCalls({ events, dialled: load.dialled, channels, disturbances, killsAtMs, endpoints }),
    }
  } finally {
    await desk.close()
  }
}

type Result = Awaited<ReturnType<typeof runOn>>

const isRight = ({ problems, leftovers }: Result): boolean => problems.length === 0 && leftovers === 0

function describeResult(result: Result): readonly string[] {
  const { legs, channels, talks, mostAtOnce, latenciesMs, leftovers, problems } = result
  const quantile = (share: number): string => `${latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? '-'} ms`
  return [
    '',
    `  legs reported           ${legs}`,
    `  calls connected         ${talks}, at most ${mostAtOnce} at a time`,
    `  channels in Asterisk    ${channels}`,
    `  command to its webhook  median ${quantile(0.5)}, p99 ${quantile(0.99)} (${latenciesMs.length} commands)`,
    `  left over in Asterisk   ${leftovers} channels and bridges`,
    ...problems.map((problem) => `  ${problem}`),
    ...(isRight(result) ? ['every leg ended exactly once, as in Asterisk'] : []),
  ]
}
