import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { duration, loadConfig, text } from '@switchhook/runtime'
import type { Bench } from './bench.ts'
import { ordinary } from './figures.ts'
import { round } from './measure/statistics.ts'
import { profiledInto, readProfile, type Shares, sharesOf } from './profiling/cpu-profile.ts'
import { type Period, type Periods, profileCommands, profileDeliveries } from './profiling/profile-sides.ts'
import { table } from './report/tables.ts'
import { withStack } from './with-stack.ts'

/** `make profile` (docs/performance.md): what the processor time of a delivery or command is spent on, by process. */
const fields = {
  /** Workloads, separated by commas. */
  WORKLOADS: text('one-to-one,twenty-to-one,commands'),
  /** The measured time of each side. */
  PROFILE_TIME: duration('20s', { minMs: 1_000 }),
}

/** The periods of a workload, and what its times are divided by. */
type Workload = readonly [
  title: string,
  unit: string,
  run: (bench: Bench, options: { readonly measureMs: number; readonly folder: string }) => Promise<Periods>,
]

const WORKLOADS: Readonly<Record<string, Workload>> = {
  'one-to-one': ['One delivery per event', 'delivery', profileDeliveries('one to one')],
  'one-subscription': ['One subscription', 'delivery', profileDeliveries('one subscription')],
  'twenty-to-one': ['Twenty deliveries per event', 'delivery', profileDeliveries('twenty to one')],
  commands: ['Call commands', 'command', profileCommands],
}

function workloadOf(name: string): Workload {
  const workload = WORKLOADS[name]
  if (workload === undefined) {
    throw new Error(`WORKLOADS: there is no ${name}; there are ${Object.keys(WORKLOADS).join(', ')}`)
  }
  return workload
}

/** A process writes its profile when it ends, so the result can be read only after the stack has stopped. */
async function profile([title, unit, run]: Workload, measureMs: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-profile-'))
  let periods: Periods = {}
  const setting = { ...ordinary, NODE_OPTIONS: profiledInto(folder).join(' ') }
  await withStack(process.env, setting, async (bench) => {
    console.log(title)
    periods = await run(bench, { measureMs, folder })
  })
  console.log(`  profiles for Chrome DevTools: ${folder}`)
  return Object.entries(periods)
    .map(([side, period]) => render(`${title}: ${side}`, unit, period, folder))
    .join('\n\n')
}

/** Rows below this share of their process are left out. */
const SMALLEST_SHARE = 0.02

/** The processor time by part, and of each Node process the packages that its samples were taken in. */
function render(title: string, unit: string, { perSecond, parts, costUs, ...period }: Period, folder: string): string {
  const sum = Object.values(costUs).reduce((total, us) => total + us, 0)
  const costs = Object.entries(costUs).map(([part, us]) => `${part} ${us}`)
  const tables = Object.entries(parts).flatMap(([part, pids]) => {
    const shares = pids
      .map((pid) => readProfile(folder, pid))
      .reduce<Map<string, number>>((all, profile) => {
        const own: Shares = profile === undefined ? new Map() : sharesOf(profile, period.fromUs, period.toUs)
        for (const [name, samples] of own) all.set(name, (all.get(name) ?? 0) + samples)
        return all
      }, new Map())
    const samples = [...shares.values()].reduce((total, count) => total + count, 0)
    const rows = [...shares]
      .map(([name, count]) => ({ name, share: count / samples }))
      .filter(({ share }) => share >= SMALLEST_SHARE)
      .toSorted((a, b) => b.share - a.share)
    if (rows.length === 0) return []
    return table(rows, {
      [part]: ({ name }) => name,
      [`µs per ${unit}`]: ({ share }) => round(share * (costUs[part] ?? 0)),
      share: ({ share }) => `${Math.round(share * 100)} %`,
    })
  })
  return [
    `## ${title}`,
    `${round(perSecond, 0)} per second, ${sum} µs per ${unit}: ${costs.join(', ')}.`,
    ...tables,
  ].join('\n\n')
}

const { WORKLOADS: names, PROFILE_TIME: measureMs } = loadConfig(fields, process.env)
for (const workload of names.split(',').map((name) => workloadOf(name.trim()))) {
  console.log(`\n${await profile(workload, measureMs)}`)
}
