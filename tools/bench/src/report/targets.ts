import type { FigureName, Figures, Results } from './results.ts'

export interface TargetRow {
  readonly figure: string
  readonly target: string
  readonly measured: string
  readonly verdict: Verdict
}

/** `in part`: what was measured is less than what was aimed at. `tested`: shown by tests, and no figure. */
type Verdict = 'met' | 'not met' | 'in part' | 'tested' | 'not measured'

/** What the design aims at on two cores that also run broker, Redis and receivers. */
const TARGETS = {
  toBullmq: 2,
  toBare: 0.7,
  p50Ms: 10,
  p99Ms: 50,
  neighbours: 1.2,
  outageMs: 600_000,
} as const

const judge = (isMet: boolean): Verdict => (isMet ? 'met' : 'not met')

/** What was aimed at beside what was measured. */
export function compareWithTargets(results: Results): readonly TargetRow[] {
  function row<Name extends FigureName>(
    name: Name,
    figure: string,
    target: string,
    look: (figure: Figures[Name]) => Pick<TargetRow, 'measured' | 'verdict'>,
  ): TargetRow {
    const taken = results[name]
    const seen = taken === undefined ? { measured: '', verdict: 'not measured' as const } : look(taken.figure)
    return { figure, target, ...seen }
  }
  return [
    row('deliveries', 'deliveries per second, to BullMQ with axios', `≥ ${TARGETS.toBullmq}`, ({ toBullmq }) => ({
      measured: String(toBullmq),
      verdict: judge(toBullmq >= TARGETS.toBullmq),
    })),
    row('deliveries', 'deliveries per second, to a bare loop', `≥ ${TARGETS.toBare}`, ({ toBare }) => ({
      measured: String(toBare),
      verdict: judge(toBare >= TARGETS.toBare),
    })),
    row(
      'latency',
      'event published to first POST, at 500 events/s',
      `p50 ≤ ${TARGETS.p50Ms} ms, p99 ≤ ${TARGETS.p99Ms} ms`,
      ({ ours: { p50Ms, p99Ms } }) => ({
        measured: `${p50Ms} ms, ${p99Ms} ms`,
        verdict: judge(p50Ms <= TARGETS.p50Ms && p99Ms <= TARGETS.p99Ms),
      }),
    ),
    row(
      'noisy',
      'p99 of healthy endpoints while 20 % hang, to the same without',
      `≤ ${TARGETS.neighbours}`,
      ({ few, many }) => ({
        measured: [few, many]
          .map(({ hanging, endpoints, ours }) => `${hanging} of ${endpoints}: ${ratios(ours)}`)
          .join('; '),
        verdict: judge(
          [few, many].every(({ ours }) => Math.max(ours.beforeRatio, ours.steadyRatio) <= TARGETS.neighbours),
        ),
      }),
    ),
    {
      figure: 'lost over kill -9 of each service, the broker and Redis',
      target: '0',
      measured: 'by `tests/e2e/src/faults.e2e.test.ts`',
      verdict: 'tested',
    },
    row('outage', 'recovery after the broker was away for 10 minutes', 'by itself, nothing lost', (outage) => ({
      measured: `away ${Math.round(outage.awayMs / 1_000)} s: all told ${seconds(outage.allMs)} after its return, lost ${outage.lost}`,
      verdict: outage.lost > 0 ? 'not met' : outage.awayMs < TARGETS.outageMs ? 'in part' : 'met',
    })),
    row('memory', 'worker memory with 1000 endpoints, unreasonable answers among them', 'flat', ({ workers }) => ({
      measured: workers.map(({ warmMib, endMib }) => `${warmMib} → ${endMib} MiB`).join(', '),
      verdict: judge(workers.every(({ isFlat }) => isFlat)),
    })),
  ]
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

const ratios = ({ beforeRatio, steadyRatio }: Figures['noisy']['few']['ours']): string =>
  `${beforeRatio} before the cool-down, then ${steadyRatio}`
