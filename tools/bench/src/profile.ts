import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { duration, loadConfig, text } from '@switchhook/runtime'
import type { Bench } from './bench.ts'
import { ordinary } from './figures.ts'
import { profiledInto } from './profiling/cpu-profile.ts'
import { profileOf } from './profiling/measure-profile.ts'
import { type Periods, profileCommands, profileDeliveries } from './profiling/profile-sides.ts'
import { renderProfile, type SideProfile } from './profiling/render-profile.ts'
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
  const sides = Object.entries(periods).map(
    ([side, period]): SideProfile => ({
      side,
      perSecond: period.units / period.seconds,
      othersShare: period.othersShare,
      parts: profileOf(period, folder),
    }),
  )
  return renderProfile(title, unit, sides)
}

const { WORKLOADS: names, PROFILE_TIME: measureMs } = loadConfig(fields, process.env)
for (const workload of names.split(',').map((name) => workloadOf(name.trim()))) {
  console.log(`\n${await profile(workload, measureMs)}`)
}
