import { leaveTestRun } from '@switchhook/test-servers'

export default async function stopInfrastructure(): Promise<void> {
  await globalThis.testServers?.stop()
  await leaveTestRun()
}
