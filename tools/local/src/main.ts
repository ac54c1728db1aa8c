import { NoAnswer, SwitchhookError } from '@switchhook/client'
import { AsteriskUnavailable } from '@switchhook/pbx'
import { ConfigError } from '@switchhook/runtime'
import { BackingUnavailable, DaemonFailed } from '@switchhook/test-servers'
import { tryContainers } from './containers/try-containers.ts'
import { runDemo, runDemoOnGiven } from './demo/run-demo.ts'
import { StepFailed } from './demo/verify.ts'
import { bringUp } from './stack/bring-up.ts'
import { stackEnvironment } from './stack/stack-environment.ts'
import { readStackOptions } from './stack/stack-options.ts'
import { stopStack } from './stack/stop-stack.ts'
import { summary } from './stack/summary.ts'

const say = (line: string): void => console.log(line)
const env = stackEnvironment(process.env, say)

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  up: async () => say(summary(await bringUp(readStackOptions(env), env, say))),
  down: async () => {
    await stopStack(readStackOptions(env).home, say)
    say('stopped')
  },
  demo: () => (env['DEMO_API_URL'] ? runDemoOnGiven : runDemo)(env, say),
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
