import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { type Field, FieldError, integer, loadConfig, optional, text } from '@switchhook/runtime'
import { FAULT_KINDS } from './faults/plan.ts'

const HIGHEST_SEED = 999_999_999

/** Some of `known`, separated by commas; by default all. */
export const someOf = <Name extends string>(known: readonly Name[]): Field<readonly Name[]> => ({
  fallback: known.join(','),
  parse: (raw) => {
    const named = raw.split(',').map((name) => known.find((one) => one === name))
    if (named.every((name) => name !== undefined)) return named
    throw new FieldError(`must be some of ${known.join(', ')}, separated by commas`)
  },
})

const fields = {
  /** The number of faults for each seed. */
  KILLS: integer({ min: 1, max: 10_000 }, 27),
  SEED: text('random'),
  /** The kinds of faults to draw from. */
  FAULTS: someOf(FAULT_KINDS),
  /** The file for the report in Markdown, if one is wanted. */
  REPORT: optional(text()),
  SWITCHHOOK_HOME: text('.local'),
}

export type ChaosOptions = ReturnType<typeof readOptions>

/** Several seeds, separated by commas, run one after the other; `random` draws one. @throws ConfigError */
export function readOptions(env: NodeJS.ProcessEnv) {
  const { KILLS, SEED, FAULTS, REPORT, SWITCHHOOK_HOME } = loadConfig(fields, env, [
    ({ SEED }) =>
      /^(\d{1,9}|random)(,(\d{1,9}|random))*$/.test(SEED)
        ? undefined
        : 'SEED must be whole numbers of at most nine digits, or random, separated by commas',
  ])
  return {
    kills: KILLS,
    seeds: SEED.split(',').map((seed) => (seed === 'random' ? randomInt(HIGHEST_SEED) : Number(seed))),
    kinds: FAULTS,
    report: REPORT,
    home: join(SWITCHHOOK_HOME, 'chaos'),
  }
}
