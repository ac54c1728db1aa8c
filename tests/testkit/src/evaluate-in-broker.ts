import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RabbitmqControl } from '@switchhook/test-servers'

/** Evaluates Erlang in the RabbitMQ that this run has started. Undefined if the broker was given by AMQP_URL. */
export function evaluateInBroker(): ((code: string) => Promise<void>) | undefined {
  const control = process.env['TEST_RABBITMQ_CONTROL']
  if (control === undefined) return undefined
  const { command, args, env } = JSON.parse(control) as RabbitmqControl
  return async (code) => {
    const running = promisify(execFile)(command, args, { env: { ...process.env, ...env } })
    running.child.stdin?.end(`${code}\n`)
    const { stdout } = await running
    // `erl_call` prints an error and exits with 0.
    if (stdout.startsWith('{error')) throw new Error(`RabbitMQ could not evaluate ${code}: ${stdout}`)
  }
}
