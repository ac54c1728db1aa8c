import type { Redis } from 'ioredis'

/** What Redis reports about its main thread. */
export interface RedisCounts {
  /** Processor time in µs: inside system calls, and outside of them. */
  readonly systemUs: number
  readonly userUs: number
  /** Calls by command. The commands that a script calls count as well as the script (EVALSHA). */
  readonly calls: Readonly<Record<string, number>>
}

export async function readRedisCounts(redis: Redis): Promise<RedisCounts> {
  const [cpu, commands] = await Promise.all([redis.info('cpu'), redis.info('commandstats')])
  return parseRedisCounts(cpu, commands)
}

export function parseRedisCounts(cpu: string, commands: string): RedisCounts {
  const secondsOf = (name: string): number =>
    Number(new RegExp(`^used_cpu_${name}_main_thread:([\\d.]+)`, 'm').exec(cpu)?.[1] ?? 0)
  const calls = [...commands.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = '', count]) => [name.toUpperCase(), Number(count)] as const,
  )
  return {
    systemUs: Math.round(secondsOf('sys') * 1_000_000),
    userUs: Math.round(secondsOf('user') * 1_000_000),
    calls: Object.fromEntries(calls),
  }
}

/** What was added between two readings. */
export function countsBetween(before: RedisCounts, after: RedisCounts): RedisCounts {
  const added = Object.entries(after.calls).map(([name, count]) => [name, count - (before.calls[name] ?? 0)] as const)
  return {
    systemUs: after.systemUs - before.systemUs,
    userUs: after.userUs - before.userUs,
    calls: Object.fromEntries(added.filter(([, count]) => count > 0)),
  }
}
