import { availableParallelism } from 'node:os'

/** One Jest process. It runs one file at a time. */
export interface Part {
  readonly name: string
  readonly project: string
  readonly args: readonly string[]
}

export interface Plan {
  /** Runs during the build, and ends the run if it fails. */
  readonly first: Part
  /** The lanes take these parts one after the other. */
  readonly parts: readonly Part[]
  readonly lanes: number
}

/** Tests wait for other processes two thirds of their time, so three files can share a core. */
const LANES_PER_CORE = 3
/** Jest, its servers and the services that it starts. */
const LANE_BYTES = 2 ** 30

/** At least two, so that a file that waits for long does not hold up all others. */
export const lanesOf = (cores: number, freeBytes: number): number =>
  Math.max(2, Math.min(LANES_PER_CORE * cores, Math.floor(freeBytes / LANE_BYTES)))

const part = (project: string, ...args: string[]): Part => ({ name: project, project, args })

const shards = (project: string, count: number): readonly Part[] =>
  Array.from({ length: count }, (_, n) => ({
    ...part(project, `--shard=${n + 1}/${count}`),
    name: `${project}-${n + 1}`,
  }))

/** What `make test` and `make test-long` run. The long ones need a quiet machine. */
const PLANS = {
  test: {
    parts: [...shards('e2e', 2), ...shards('it', 3), part('browser'), part('unit')],
    lanes: lanesOf(availableParallelism(), process.availableMemory()),
  },
  'test-long': { parts: [part('long'), part('browser-long')], lanes: 1 },
}

export type PlanName = keyof typeof PLANS

/** Jest takes an expression, and every file for one that is invalid. */
export const selectionOf = (patterns: readonly string[]): readonly string[] =>
  patterns.map((pattern) => `--testPathPatterns=${pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}`)

/**
 * The longest parts begin first, and short ones fill the lanes at the end. Each part has a RabbitMQ and a Redis of its own,
 * because some tests raise an alarm on the broker, fill Redis, or kill parts of the stack. A start of RabbitMQ takes five
 * seconds of processor time.
 * @param patterns only the files whose path contains one of them; all without any
 */
export function planOf(name: PlanName, patterns: readonly string[]): Plan {
  const chosen = ['--passWithNoTests', ...selectionOf(patterns)]
  const { parts, lanes } = PLANS[name]
  return {
    first: part('preflight'),
    parts: parts.map((each) => ({ ...each, args: [...each.args, ...chosen] })),
    lanes,
  }
}
