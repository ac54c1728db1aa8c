import { round } from '../measure/statistics.ts'
import { table } from '../report/tables.ts'
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

/** The load: it is the same on every side. */
const HARNESS: ReadonlySet<string> = new Set(['publisher', 'receiver', 'clients'])

function renderPart({ part, us, rows }: PartProfile, unit: string): string {
  const large = rows.filter((row) => row.us >= us * SMALLEST_SHARE)
  const rest = us - large.reduce((sum, row) => sum + row.us, 0)
  const all = rest >= 0.5 ? [...large, { name: 'the rest', us: rest }] : large
  const lines = all.map((row) => [row.name, round(row.us), `${Math.round((row.us / us) * 100)} %`] as const)
  return table([...lines, ['**total**', `**${round(us)}**`, ''] as const], {
    [part]: ([name]) => name,
    [`µs per ${unit}`]: ([, value]) => value,
    share: ([, , share]) => share,
  })
}
