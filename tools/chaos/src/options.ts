import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { integer, loadConfig, optional, text } from '@switchhook/runtime'
import { FAULT_KINDS, type FaultKind } from './faults/plan.ts'

export interface ChaosOptions {
  /** The number of faults for each seed. */
  readonly kills: number
  readonly seeds: readonly number[]
  /** The kinds of faults to draw from. */
  readonly kinds: readonly FaultKind[]
  /** The file for the report in Markdown, if one is wanted. */
  readonly report: string | undefined
  readonly home: string
}

const HIGHEST_SEED = 999_999_999

const fields = {
  KILLS: integer({ min: 1, max: 10_000 }, 26),
  SEED: text('random'),
  FAULTS: text(FAULT_KINDS.join(',')),
  REPORT: optional(text()),
  SWITCHHOOK_HOME: text('.local'),
}

const isKind = (name: string): name is FaultKind => FAULT_KINDS.some((kind) => kind === name)

/** Several seeds, separated by commas, run one after the other; `random` draws one. @throws ConfigError */
export function readOptions(env: NodeJS.ProcessEnv): ChaosOptions {
  const { KILLS, SEED, FAULTS, REPORT, SWITCHHOOK_HOME } = loadConfig(fields, env, [
    ({ SEED }) =>
      /^(\d{1,9}|random)(,(\d{1,9}|random))*$/.test(SEED)
        ? undefined
        : 'SEED must be whole numbers of at most nine digits, or random, separated by commas',
    ({ FAULTS }) =>
      FAULTS.split(',').every(isKind)
        ? undefined
        : `FAULTS must be some of ${FAULT_KINDS.join(', ')}, separated by commas`,
  ])
  return {
    kills: KILLS,
    seeds: SEED.split(',').map((seed) => (seed === 'random' ? randomInt(HIGHEST_SEED) : Number(seed))),
    kinds: FAULTS.split(',').filter(isKind),
    report: REPORT,
    home: join(SWITCHHOOK_HOME, 'chaos'),
  }
}
