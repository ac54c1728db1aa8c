import { randomUUID } from 'node:crypto'
import { openManagement } from './management.ts'

export type TestBroker = Awaited<ReturnType<typeof testBroker>>

/** Creates a virtual host that only this test uses, in the RabbitMQ of the test run. */
export async function testBroker() {
  const vhost = `test-${randomUUID()}`
  const management = openManagement(infrastructureUrl('TEST_MANAGEMENT_URL'), vhost)
  await management.createVhost()
  const url = new URL(infrastructureUrl('TEST_AMQP_URL'))
  url.pathname = `/${vhost}`
  return {
    amqpUrl: url.href,
    management,
    /** Removes the virtual host with its queues, which closes open connections. */
    close: (): Promise<void> => management.deleteVhost(),
  }
}

/** @throws if the test runs in a Jest project that does not start RabbitMQ and Redis */
export function infrastructureUrl(name: 'TEST_AMQP_URL' | 'TEST_MANAGEMENT_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (url) return url
  const hint = name === 'TEST_MANAGEMENT_URL' ? '; with a given AMQP_URL, give MANAGEMENT_URL as well' : ''
  throw new Error(`${name} is not set: tests that need it are named x.it.test.ts${hint}`)
}
