import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { duration, loadConfig, optional, text } from '@switchhook/runtime'
import type { Bench } from './bench.ts'
import { ordinary } from './figures.ts'
import { describeMachine } from './measure/machine.ts'
import { profiledInto } from './profiling/cpu-profile.ts'
import { profileOf } from './profiling/measure-profile.ts'
import { type Periods, profileCommands, profileDeliveries } from './profiling/profile-sides.ts'
import { renderPage, renderProfile, type SideProfile } from './profiling/render-profile.ts'
import { withStack } from './with-stack.ts'

/** `make profile` (docs/performance.md): what the processor time of a delivery or command is spent on, by process. */
const fields = {
  /** Workloads, separated by commas. */
  WORKLOADS: text('one-to-one,twenty-to-one,commands'),
  /** The measured time of each side. */
  PROFILE_TIME: duration('20s', { minMs: 1_000 }),
  /** The page to write. Absent: the result is printed. */
  REPORT: optional(text()),
}

interface Workload {
  readonly title: string
  /** What the times are divided by. */
  readonly unit: string
  readonly run: (bench: Bench, options: { readonly measureMs: number; readonly folder: string }) => Promise<Periods>
}

const WORKLOADS: Readonly<Record<string, Workload>> = {
  'one-to-one': {
    title: 'One delivery per event',
    unit: 'delivery',
    run: (bench, options) => profileDeliveries(bench, 'one to one', options),
  },
  'one-subscription': {
    title: 'One subscription',
    unit: 'delivery',
    run: (bench, options) => profileDeliveries(bench, 'one subscription', options),
  },
  'twenty-to-one': {
    title: 'Twenty deliveries per event',
    unit: 'delivery',
    run: (bench, options) => profileDeliveries(bench, 'twenty to one', options),
  },
  commands: {
    title: 'Call commands',
    unit: 'command',
    run: (bench, { measureMs }) => profileCommands(bench, measureMs),
  },
}

function workloadOf(name: string): Workload {
  const workload = WORKLOADS[name]
  if (workload === undefined) {
    throw new Error(`WORKLOADS: there is no ${name}; there are ${Object.keys(WORKLOADS).join(', ')}`)
  }
  return workload
}

/** A process writes its profile when it ends, so the result can be read only after the stack has stopped. */
async function profile({ title, unit, run }: Workload, measureMs: number): Promise<string> {
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

async function main(): Promise<void> {
  const { WORKLOADS: names, PROFILE_TIME: measureMs, REPORT: report } = loadConfig(fields, process.env)
  const sections: string[] = []
  for (const workload of names.split(',').map((name) => workloadOf(name.trim()))) {
    sections.push(await profile(workload, measureMs))
  }
  if (report === undefined) return console.log(sections.join('\n\n'))
  mkdirSync(dirname(report), { recursive: true })
  writeFileSync(report, renderPage(sections, { at: new Date(), machine: describeMachine(), measureMs }))
  console.log(`written: ${report}`)
}

await main()
