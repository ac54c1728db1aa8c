import { Redis } from 'ioredis'
import { machineTicks, TICK_MS } from '../measure/process-usage.ts'
import { type CpuProfile, readProfile, type Shares, sharesOf } from './cpu-profile.ts'
import { countsBetween, type RedisCounts, readRedisCounts } from './redis-counts.ts'
import { erlangThreads, MAIN_THREAD, nodeThreads, redisThreads, type ThreadTimes } from './threads.ts'

/** The processes of one side, by part. `rabbitmq` and `redis` are the servers; all others are Node. */
export type Parts = Readonly<Record<string, readonly number[]>>

/** What one side did in its measured period. The profiles of its Node processes exist once they have ended. */
export interface Period {
  /** Deliveries or commands. */
  readonly units: number
  readonly seconds: number
  readonly parts: Parts
  /** Of `process.hrtime`'s clock, in µs. */
  readonly fromUs: number
  readonly toUs: number
  readonly threadMs: Readonly<Record<string, ThreadTimes>>
  readonly redis: RedisCounts
  /** The share of the machine's processor time that other programs used, 0 to 1; null if the system does not report it. */
  readonly othersShare: number | null
}

/** Processor time of a delivery or command in one process, by what it was spent on. */
export interface PartProfile {
  readonly part: string
  readonly us: number
  readonly rows: readonly { readonly name: string; readonly us: number }[]
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)

/** Measures one period of a side. @param work resolves to the number of deliveries or commands */
export async function measurePeriod(parts: Parts, redisUrl: string, work: () => Promise<number>): Promise<Period> {
  const client = new Redis(redisUrl)
  const read = async () => ({
    threads: threadsOf(parts),
    redis: await readRedisCounts(client),
    machine: machineTicks(),
    us: nowUs(),
  })
  try {
    const before = await read()
    const units = await work()
    const after = await read()
    const threadMs = Object.fromEntries(
      Object.keys(parts).map((part) => [part, subtract(after.threads[part] ?? {}, before.threads[part] ?? {})]),
    )
    return {
      units,
      seconds: (after.us - before.us) / 1_000_000,
      parts,
      fromUs: before.us,
      toUs: after.us,
      threadMs,
      redis: countsBetween(before.redis, after.redis),
      othersShare: othersShareOf(threadMs, before.machine, after.machine),
    }
  } finally {
    client.disconnect()
  }
}

type Ticks = ReturnType<typeof machineTicks>

function othersShareOf(threadMs: Period['threadMs'], before: Ticks, after: Ticks): number | null {
  const all = (after.all - before.all) * TICK_MS
  const busy = all - (after.idle - before.idle) * TICK_MS
  const ours = Object.values(threadMs)
    .flatMap((times) => Object.values(times))
    .reduce((sum, ms) => sum + ms, 0)
  return all === 0 ? null : Math.max(0, (busy - ours) / all)
}

function threadsOf(parts: Parts): Record<string, ThreadTimes> {
  return Object.fromEntries(Object.entries(parts).map(([part, pids]) => [part, readThreads(part, pids)]))
}

function readThreads(part: string, pids: readonly number[]): ThreadTimes {
  if (part === 'rabbitmq') return erlangThreads(pids)
  return part === 'redis' ? redisThreads(pids) : nodeThreads(pids)
}

const subtract = (after: ThreadTimes, before: ThreadTimes): ThreadTimes =>
  Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]))

/** Divides each part's processor time. Call it when the processes have ended. @param folder of the profiles */
export function profileOf(period: Period, folder: string): readonly PartProfile[] {
  return Object.entries(period.parts).map(([part, pids]) => {
    const perUnit = (ms: number): number => (ms * 1_000) / period.units
    const threads = Object.entries(period.threadMs[part] ?? {}).map(([name, ms]) => ({ name, us: perUnit(ms) }))
    const us = threads.reduce((sum, thread) => sum + thread.us, 0)
    if (part === 'redis') return { part, us, rows: redisRows(period, threads) }
    if (part === 'rabbitmq') return { part, us, rows: byTime(threads) }
    const main = threads.find(({ name }) => name === MAIN_THREAD)?.us ?? 0
    const profiles = pids.map((pid) => readProfile(folder, pid)).filter((profile) => profile !== undefined)
    const others = threads.filter(({ name }) => name !== MAIN_THREAD)
    return { part, us, rows: byTime([...nodeRows(profiles, period, main), ...others]) }
  })
}

/** The main thread's time, divided as the samples are. */
function nodeRows(profiles: readonly CpuProfile[], { fromUs, toUs }: Period, mainUs: number): PartProfile['rows'] {
  const shares = profiles.map((profile) => sharesOf(profile, fromUs, toUs)).reduce(sum, new Map())
  const all = [...shares.values()].reduce((total, count) => total + count, 0)
  if (all === 0) return [{ name: MAIN_THREAD, us: mainUs }]
  return [...shares].map(([name, count]) => ({ name, us: (count / all) * mainUs }))
}

const sum = (total: Shares, shares: Shares): Shares =>
  new Map(
    [...new Set([...total.keys(), ...shares.keys()])].map((part) => [
      part,
      (total.get(part) ?? 0) + (shares.get(part) ?? 0),
    ]),
  )

/** Commands that are called less often than this per delivery are not named. */
const RARE = 0.05

/** The main thread inside and outside of system calls, with the commands that it carries out. */
function redisRows({ redis, units }: Period, threads: PartProfile['rows']): PartProfile['rows'] {
  const calls = Object.entries(redis.calls)
    .map(([name, count]) => [name, count / units] as const)
    .filter(([, perUnit]) => perUnit >= RARE)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, perUnit]) => `${perUnit.toFixed(2)} ${name}`)
  return byTime([
    { name: `protocol and commands: ${calls.join(', ')}`, us: redis.userUs / units },
    { name: 'system calls: sockets, append-only file, fsync', us: redis.systemUs / units },
    ...threads.filter(({ name }) => name !== MAIN_THREAD),
  ])
}

const byTime = (rows: PartProfile['rows']): PartProfile['rows'] => rows.toSorted((a, b) => b.us - a.us)
