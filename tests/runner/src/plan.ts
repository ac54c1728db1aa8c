import { constants } from 'node:os'

/** One Jest process. It runs one file at a time. */
export interface Part {
  readonly name: string
  readonly project: string
  readonly args: readonly string[]
  readonly priority?: number
}

export interface Plan {
  /** Runs during the build, and ends the run if it fails. */
  readonly first: Part
  /** The lanes take these parts one after the other. */
  readonly parts: readonly Part[]
  /** These run last, side by side. */
  readonly last: readonly Part[]
  readonly lanes: number
}

/** Most tests wait for other processes, so three files can share two cores. */
const LANES = 3

const part = (project: string, ...args: string[]): Part => ({ name: project, project, args })

const shards = (project: string, count: number): Part[] =>
  Array.from({ length: count }, (_, n) => ({
    ...part(project, `--shard=${n + 1}/${count}`),
    name: `${project}-${n + 1}`,
  }))

/**
 * The longest parts begin first, and short ones fill the lanes at the end. Each part of the integration tests starts a
 * RabbitMQ for ten seconds of processor time. The last part of the unit tests runs beside the fault suite, which leaves half
 * of the processor time.
 */
export function planOf(patterns: readonly string[]): Plan {
  const [unit = [], lastUnit = []] = [shards('unit', 2).slice(0, 1), shards('unit', 2).slice(1)]
  const chosen = (parts: readonly Part[]): Part[] =>
    parts.map((part) => ({
      ...part,
      args: [...part.args, '--passWithNoTests', ...patterns.map((pattern) => `--testPathPatterns=${pattern}`)],
    }))
  return {
    first: part('preflight'),
    parts: chosen([part('e2e'), ...shards('it', 2), part('own-stack'), part('browser'), ...unit]),
    last: chosen([part('quiet'), ...lastUnit.map((unit) => ({ ...unit, priority: constants.priority.PRIORITY_LOW }))]),
    lanes: LANES,
  }
}
