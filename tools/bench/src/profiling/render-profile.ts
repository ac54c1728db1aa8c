import type { Machine } from '../measure/machine.ts'
import { round } from '../measure/statistics.ts'
import type { PartProfile } from './measure-profile.ts'

/** A measured side: its rate, and the profile of each of its processes. */
export interface SideProfile {
  readonly side: string
  readonly perSecond: number
  readonly othersShare: number | null
  readonly parts: readonly PartProfile[]
}

/** Rows below this share of their process are summed up. */
const SMALLEST_SHARE = 0.02

/** The profiles as Markdown. @param unit what the times are divided by: `delivery` or `command` */
export function renderProfile(title: string, unit: string, sides: readonly SideProfile[]): string {
  return [
    `## ${title}`,
    ...sides.map(({ side, perSecond, othersShare, parts }) => {
      const total = parts.filter(({ part }) => !HARNESS.has(part)).reduce((sum, { us }) => sum + us, 0)
      const others =
        othersShare === null
          ? ''
          : ` Other programs used ${Math.round(othersShare * 100)} % of the machine's processor time meanwhile.`
      const names = parts.map(({ part, us }) => `${part} ${round(us, 0)}`).join(', ')
      return [
        `### ${title}: ${side}`,
        `${round(perSecond, 0)} per second. ${round(total, 0)} µs per ${unit} without the load itself: ${names}.${others}`,
        ...parts.filter(({ part }) => !HARNESS.has(part)).map((part) => renderPart(part, unit)),
      ].join('\n\n')
    }),
  ].join('\n\n')
}

/** The whole page: how it was measured, and the sections of the workloads. */
export function renderPage(
  sections: readonly string[],
  { at, machine, measureMs }: { readonly at: Date; readonly machine: Machine; readonly measureMs: number },
): string {
  const { cores, processor, memoryGib, system, node } = machine
  const taken = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `# Profiles

\`make profile REPORT=docs/benchmarks/profile.md\` writes this page. [performance.md](../performance.md) explains it.

Each side was measured for about ${measureMs / 1_000} s on ${taken}, on ${cores} cores (${processor}), ${memoryGib} GiB,
${system}, Node ${node}. The times are processor time, not wall time. The main thread of each Node process is divided by
a sampling profile; code of Node belongs to the package that calls it. Profiling slows the processes down by some percent.
A machine that is busy with other programs makes each microsecond of work longer: compare only sides of one run, and
measure on a quiet machine.

${sections.join('\n\n')}
`
}

/** The load: it is the same on every side. */
const HARNESS: ReadonlySet<string> = new Set(['publisher', 'receiver', 'clients'])

function renderPart({ part, us, rows }: PartProfile, unit: string): string {
  const large = rows.filter((row) => row.us >= us * SMALLEST_SHARE)
  const rest = us - large.reduce((sum, row) => sum + row.us, 0)
  const all = rest >= 0.5 ? [...large, { name: 'the rest', us: rest }] : large
  return [
    `| ${part} | µs per ${unit} | share |`,
    '| --- | --- | --- |',
    ...all.map((row) => `| ${row.name} | ${round(row.us)} | ${Math.round((row.us / us) * 100)} % |`),
    `| **total** | **${round(us)}** | |`,
  ].join('\n')
}
