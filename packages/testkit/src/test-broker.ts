import { randomUUID } from 'node:crypto'
import { infrastructureUrl } from './infrastructure-url.ts'
import { type Management, openManagement } from './management.ts'

export interface TestBroker {
  /** The URL of a new virtual host that only this test uses. */
  readonly amqpUrl: string
  readonly management: Management
  /** Removes the virtual host with its queues, which closes open connections. */
  close(): Promise<void>
}

/** Creates a new virtual host in the RabbitMQ of the test run. */
export async function testBroker(): Promise<TestBroker> {
  const vhost = `test-${randomUUID()}`
  const management = openManagement(infrastructureUrl('TEST_MANAGEMENT_URL'), vhost)
  await management.createVhost()
  const url = new URL(infrastructureUrl('TEST_AMQP_URL'))
  url.pathname = `/${vhost}`
  return { amqpUrl: url.href, management, close: () => management.deleteVhost() }
}
