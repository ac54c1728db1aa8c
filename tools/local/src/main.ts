import { NoAnswer, SwitchhookError } from '@switchhook/client'
import { AsteriskUnavailable } from '@switchhook/pbx'
import { ConfigError } from '@switchhook/runtime'
import { BackingUnavailable, DaemonFailed } from '@switchhook/test-servers'
import { tryContainers } from './containers/try-containers.ts'
import { runDemo, runDemoOnGiven } from './demo/run-demo.ts'
import { StepFailed } from './demo/verify.ts'
import { readStackOptions } from './stack/stack-options.ts'
import { startStack } from './stack/start-stack.ts'
import { stopStack } from './stack/stop-stack.ts'
import { summary } from './stack/summary.ts'

const say = (line: string): void => console.log(line)

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  up: async () => say(summary(await startStack(readStackOptions(process.env), process.env, say))),
  down: async () => {
    await stopStack(readStackOptions(process.env).home, say)
    say('stopped')
  },
  demo: () => (process.env['DEMO_API_URL'] ? runDemoOnGiven : runDemo)(process.env, say),
  'try-containers': () => tryContainers(say),
}

async function main(): Promise<void> {
  const command = COMMANDS[process.argv[2] ?? '']
  if (command === undefined) throw new ConfigError(`usage: main ${Object.keys(COMMANDS).join('|')}`)
  await command()
}

/** Shows an expected error as its message and an unexpected one with its stack. */
function explain(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(explain).join('\n\n')
  const isExpected = [
    ConfigError,
    DaemonFailed,
    StepFailed,
    BackingUnavailable,
    AsteriskUnavailable,
    NoAnswer,
    SwitchhookError,
  ].some((kind) => error instanceof kind)
  return error instanceof Error ? ((isExpected ? error.message : error.stack) ?? error.message) : String(error)
}

main().catch((error: unknown) => {
  console.error(explain(error))
  process.exitCode = 1
})
