import { randomInt } from 'node:crypto'
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

/** Several run one after the other; `random` draws one. */
const seeds: Field<readonly number[]> = {
  fallback: 'random',
  parse: (raw) =>
    raw.split(',').map((seed) => {
      if (seed === 'random') return randomInt(HIGHEST_SEED)
      if (/^\d{1,9}$/.test(seed)) return Number(seed)
      throw new FieldError('must be whole numbers of at most nine digits, or random, separated by commas')
    }),
}

const fields = {
  /** The number of faults for each seed. */
  KILLS: integer({ min: 1, max: 10_000 }, 29),
  SEED: seeds,
  /** The kinds of faults to draw from. */
  FAULTS: someOf(FAULT_KINDS),
  /** The file for the report in Markdown, if one is wanted. */
  REPORT: optional(text()),
  SWITCHHOOK_HOME: text('.local'),
}

export type ChaosOptions = ReturnType<typeof readOptions>

/** @throws ConfigError */
export const readOptions = (env: NodeJS.ProcessEnv) => loadConfig(fields, env)
