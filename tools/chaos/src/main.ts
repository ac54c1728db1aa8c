import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinTestRun, leaveTestRun } from '@switchhook/test-servers'
import { runAsterisk } from './asterisk/run-asterisk.ts'
import { planFaults } from './faults/plan.ts'
import { readOptions } from './options.ts'
import { conclude, renderReport, summaryOf } from './report.ts'
import { runChaos } from './run-chaos.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

joinTestRun()
const ending = new AbortController()
process.once('SIGINT', () => {
  console.log('… no further fault; what arrived is checked now. Another Ctrl+C ends everything at once')
  ending.abort()
})
await (process.env['PLATFORM'] === 'asterisk' ? runAsterisk(ending.signal) : injectFaults(ending.signal))
await leaveTestRun()

async function injectFaults(signal: AbortSignal): Promise<void> {
  const options = readOptions(process.env)
  const { KILLS: kills, SEED: seeds, FAULTS: kinds, REPORT: report } = options
  const [seed = 0] = seeds
  const home = join(options.SWITCHHOOK_HOME, 'chaos')
  console.log(`SEED=${seeds.join(',')} KILLS=${kills}`)
  await using stack = await startChaosStack(home, SETTINGS)
  const plan = seeds.flatMap((one) => planFaults(one, kills, kinds))
  const result = await runChaos(stack, join(home, 'receivers'), plan, seed, signal)
  conclude(summaryOf(result), result.problems, {
    good: 'nothing was lost',
    bad: `something is wrong; to repeat these faults: SEED=${seeds.join(',')} KILLS=${kills}`,
  })
  if (result.problems.length > 0) console.log(`the logs of the services are kept in ${stack.keepLogs()}`)
  if (report !== undefined) writeFileSync(report, renderReport(result, options))
}
