import type { BacklogFigure } from '../figures/backlog.ts'
import type { CommandsFigure } from '../figures/commands.ts'
import type { ConsoleFigure } from '../figures/console.ts'
import type { CostFigure } from '../figures/cost.ts'
import type { DeliveriesFigure } from '../figures/deliveries.ts'
import type { FairnessFigure } from '../figures/fairness.ts'
import type { LatencyFigure } from '../figures/latency.ts'
import type { ListenersFigure } from '../figures/listeners.ts'
import type { LogFigure } from '../figures/log.ts'
import type { MemoryFigure } from '../figures/memory.ts'
import type { NoisyFigure } from '../figures/noisy.ts'
import type { OutageFigure } from '../figures/outage.ts'
import type { PlatformsFigure } from '../figures/platforms.ts'
import type { Machine } from '../measure/machine.ts'

/** All figures, by the names that `FIGURES` accepts. */
export interface Figures {
  readonly commands: CommandsFigure
  readonly deliveries: DeliveriesFigure
  readonly latency: LatencyFigure
  readonly listeners: ListenersFigure
  readonly log: LogFigure
  readonly cost: CostFigure
  readonly noisy: NoisyFigure
  readonly backlog: BacklogFigure
  readonly fairness: FairnessFigure
  readonly memory: MemoryFigure
  readonly outage: OutageFigure
  readonly console: ConsoleFigure
  readonly platforms: PlatformsFigure
}

export type FigureName = keyof Figures

/** A figure with its date and machine. */
export interface Taken<T> {
  /** ISO 8601. */
  readonly at: string
  readonly machine: Machine
  readonly providers: Readonly<Record<string, string>>
  readonly figure: T
}

/** `docs/benchmarks/results.json`: the latest measurement of each figure. */
export type Results = { readonly [Name in FigureName]?: Taken<Figures[Name]> }

/**
 * The figures named in a comma-separated list; all figures if the list is empty.
 * @throws for an unknown name
 */
export function wantedFigures(named: string | undefined, all: readonly FigureName[]): readonly FigureName[] {
  const names = (named ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = names.filter((name) => !all.some((known) => known === name))
  if (unknown.length > 0) throw new Error(`FIGURES: there is no ${unknown.join(', ')}; there are ${all.join(', ')}`)
  return names.length === 0 ? all : all.filter((name) => names.includes(name))
}
