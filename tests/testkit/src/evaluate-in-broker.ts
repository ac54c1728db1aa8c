import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RabbitmqControl } from '@switchhook/test-servers'

/** Evaluates Erlang in the RabbitMQ that this run has started. Undefined if the broker was given by AMQP_URL. */
export function evaluateInBroker(): ((code: string) => Promise<void>) | undefined {
  const control = process.env['TEST_RABBITMQ_CONTROL']
  if (control === undefined) return undefined
  const { command, args, env } = JSON.parse(control) as RabbitmqControl
  return async (code) => {
    await promisify(execFile)(command, [...args, 'eval', code], { env: { ...process.env, ...env } })
  }
}
