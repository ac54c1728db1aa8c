import {
  type BackingServices,
  joinTestRun,
  localProvider,
  openHome,
  startBackingServices,
  temporaryFolder,
} from '@switchhook/test-servers'
import { containersProvider } from './containers-provider.ts'

declare global {
  var testServers: BackingServices | undefined
}

const say = (line: string): void => void process.stderr.write(`… test servers: ${line.replace(/^… /, '')}\n`)

/** Starts one RabbitMQ and one Redis for all test files of this Jest process. */
export default async function startInfrastructure(): Promise<void> {
  joinTestRun()
  const home = openHome(temporaryFolder('switchhook-test-'))
  const local = localProvider(home, say, { stopGraceMs: 0 })
  try {
    const servers = await startBackingServices({ env: process.env, docker: containersProvider(say), local, say })
    globalThis.testServers = servers
    Object.assign(process.env, {
      TEST_AMQP_URL: servers.amqpUrl,
      TEST_REDIS_URL: servers.redisUrl,
      ...(servers.managementUrl !== null && { TEST_MANAGEMENT_URL: servers.managementUrl }),
      ...(servers.control !== undefined && { TEST_RABBITMQ_CONTROL: JSON.stringify(servers.control) }),
    })
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    process.send?.({ kind: 'unavailable', cause })
    throw error
  }
}
