import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runAsterisk } from './asterisk/run-asterisk.ts'
import { planFaults } from './faults/plan.ts'
import { readOptions } from './options.ts'
import { conclude, problemsOf, renderReport, summaryOf } from './report.ts'
import { runChaos } from './run-chaos.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

const say = (line: string): void => console.log(line)

async function main(): Promise<void> {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())
  if (process.env['PLATFORM'] === 'asterisk') return runAsterisk(say, ending.signal)
  const options = readOptions(process.env)
  const { kills, seeds, kinds, report, home } = options
  const [seed = 0] = seeds
  say(`SEED=${seeds.join(',')} KILLS=${kills}`)
  const stack = await startChaosStack(home, { ...process.env, ...SETTINGS }, say)
  try {
    const plan = seeds.flatMap((one) => planFaults(one, kills, kinds))
    const result = await runChaos(stack, join(home, 'receivers'), plan, seed, say, ending.signal)
    conclude(summaryOf(result), problemsOf(result), {
      good: 'nothing was lost',
      bad: `something is wrong; to repeat these faults: SEED=${seeds.join(',')} KILLS=${kills}`,
    })
    if (problemsOf(result).length > 0) say(`the logs of the services are kept in ${stack.keepLogs()}`)
    if (report !== undefined) writeFileSync(report, renderReport(result, options))
  } finally {
    await stack.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

main().catch((error: unknown) => {
  console.error(error)
  // What failed to start leaves servers open.
  process.exit(1)
})
