import { rmSync } from 'node:fs'
import { leaveTestRun } from '@switchhook/test-servers'

export default async function stopInfrastructure(): Promise<void> {
  if (globalThis.testServers !== undefined) {
    const { services, folder } = globalThis.testServers
    await services.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  await leaveTestRun()
}
