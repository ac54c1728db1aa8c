import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localProvider, openHome, startBackingServices, temporaryFolder } from '@switchhook/test-servers'
import { containersProvider } from './containers-provider.ts'

const say = (line: string): void => void process.stderr.write(`test infrastructure: ${line}\n`)

/**
 * Starts both servers, prints their URLs as one line of JSON, and stops them when standard input ends. On SIGTERM, with
 * which a start that takes too long is given up, it prints the ends of their logs first.
 */
async function keepInfrastructure(): Promise<void> {
  const folder = temporaryFolder('switchhook-test-')
  const home = openHome(folder)
  const local = localProvider(home, say, { stopGraceMs: 0 })
  process.once('SIGTERM', () => {
    for (const file of readdirSync(home.logDir)) {
      const lines = readFileSync(join(home.logDir, file), 'utf8').trimEnd().split('\n')
      say(`the end of ${file}:\n${lines.slice(-20).join('\n')}`)
    }
    void local.stop().finally(() => process.exit(1))
  })
  const inputEnded = new Promise((resolve) => process.stdin.on('end', resolve).on('error', resolve).resume())
  try {
    const services = await startBackingServices({
      env: process.env,
      docker: containersProvider(say),
      local,
      say,
    })
    const urls = {
      TEST_AMQP_URL: services.amqpUrl,
      TEST_REDIS_URL: services.redisUrl,
      ...(services.managementUrl !== null && { TEST_MANAGEMENT_URL: services.managementUrl }),
      ...(services.control !== undefined && { TEST_RABBITMQ_CONTROL: JSON.stringify(services.control) }),
    }
    process.stdout.write(`${JSON.stringify(urls)}\n`)
    await inputEnded
    await services.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

keepInfrastructure().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
