import { rmSync, writeFileSync } from 'node:fs'
import { runAsterisk } from './asterisk/run-asterisk.ts'
import { planFaults } from './faults/plan.ts'
import { AGENTS } from './load/calls.ts'
import { readOptions } from './options.ts'
import { problemsOf, renderReport, renderTable, summaryOf } from './report.ts'
import { runChaos } from './run-chaos.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

const say = (line: string): void => console.log(line)

const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]

/** A retry schedule that fits into a run (`SCHEDULE_MS` is its sum), and deadlines that fit the schedule. */
const SETTINGS = {
  DELIVERY_RETRY_WAITS: '1s,2s,3s,5s,5s,8s,8s',
  DELIVERY_TIMEOUT: '3s',
  SHUTDOWN_GRACE: '8s',
  BREAKER_FAILURES: '5',
  BREAKER_COOLDOWN: '2s',
  WRAP_UP_SECONDS: '0',
  // A long run has thousands of exhausted deliveries to send again at its end.
  RECOVERY_RATE: '200',
  LOG_LEVEL: 'info',
  SIMULATOR_AGENTS: JSON.stringify(agents),
}

async function main(): Promise<void> {
  if (process.env['PLATFORM'] === 'asterisk') {
    if (!(await runAsterisk(process.env, say))) process.exitCode = 1
    return
  }
  const { kills, seeds, kinds, report, home } = readOptions(process.env)
  const [seed = 0] = seeds
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())

  say(`SEED=${seeds.join(',')} KILLS=${kills}`)
  const stack = await startChaosStack(home, { ...process.env, ...SETTINGS }, say)
  try {
    const plan = seeds.flatMap((one) => planFaults(one, kills, kinds))
    const result = await runChaos(stack, plan, seed, say, ending.signal)
    const problems = problemsOf(result)
    say(`\n${renderTable(summaryOf(result))}\n`)
    for (const problem of problems) say(`  ${problem}`)
    say(
      problems.length === 0
        ? 'nothing was lost'
        : `something is wrong; to repeat these faults: SEED=${seeds.join(',')} KILLS=${kills}`,
    )
    if (report !== undefined) writeFileSync(report, renderReport(result, { seeds, kills, kinds }))
    if (problems.length > 0) process.exitCode = 1
  } finally {
    await stack.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
