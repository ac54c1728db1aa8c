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
  var testServers: { readonly services: BackingServices; readonly folder: string } | undefined
}

const say = (line: string): void => void process.stderr.write(`… test servers: ${line.replace(/^… /, '')}\n`)

/** Starts one RabbitMQ and one Redis for all test files of this Jest process. */
export default async function startInfrastructure(): Promise<void> {
  joinTestRun()
  const folder = temporaryFolder('switchhook-test-')
  const home = openHome(folder)
  const local = localProvider(home, say, { stopGraceMs: 0 })
  try {
    const services = await startBackingServices({ env: process.env, docker: containersProvider(say), local, say })
    globalThis.testServers = { services, folder }
    Object.assign(process.env, {
      TEST_AMQP_URL: services.amqpUrl,
      TEST_REDIS_URL: services.redisUrl,
      ...(services.managementUrl !== null && { TEST_MANAGEMENT_URL: services.managementUrl }),
      ...(services.control !== undefined && { TEST_RABBITMQ_CONTROL: JSON.stringify(services.control) }),
    })
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    process.send?.({ kind: 'unavailable', cause })
    throw error
  }
}
