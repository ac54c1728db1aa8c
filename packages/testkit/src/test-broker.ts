import { randomUUID } from 'node:crypto'
import { infrastructureUrl } from './infrastructure-url.ts'
import { type Management, openManagement } from './management.ts'

export interface TestBroker {
  /** Leads to a virtual host that nobody else knows. */
  readonly amqpUrl: string
  readonly management: Management
  /** Closes what is still connected and removes the virtual host with all that is in it. */
  close(): Promise<void>
}

/** A RabbitMQ of the test's own: a fresh virtual host of the run's broker. */
export async function testBroker(): Promise<TestBroker> {
  const vhost = `test-${randomUUID()}`
  const management = openManagement(infrastructureUrl('TEST_MANAGEMENT_URL'), vhost)
  await management.createVhost()
  const url = new URL(infrastructureUrl('TEST_AMQP_URL'))
  url.pathname = `/${vhost}`
  return { amqpUrl: url.href, management, close: () => management.deleteVhost() }
}
