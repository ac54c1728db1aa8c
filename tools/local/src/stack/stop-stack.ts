import { existsSync, readdirSync, rmSync } from 'node:fs'
import { composeProvider, localProvider, openHome, type Say, stopDaemon, withProgress } from '@switchhook/test-servers'
import { ASTERISK_PROCESSES } from '../asterisk/local-asterisk.ts'
import { removeStackFile } from './stack-file.ts'

/** They are stopped after the services. */
const LAST = ['rabbitmq', 'redis', 'epmd', ...ASTERISK_PROCESSES]

/**
 * Stops every process of this home: first the services, then Asterisk, RabbitMQ and Redis. Data and logs are kept unless
 * `discardData` is set; RabbitMQ and Redis are then killed.
 */
export async function stopStack(
  folder: string,
  say: Say,
  options: { readonly discardData?: boolean } = {},
): Promise<void> {
  if (!existsSync(folder)) return
  const home = openHome(folder)
  const names = readdirSync(home.runDir)
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -'.pid'.length))
    .filter((name) => !LAST.includes(name))
  const stopping = names.map(async (name) => {
    const how = await stopDaemon(home, name)
    if (how === 'killed') say(`${name} did not stop in time and was killed: see ${home.logFile(name)}`)
  })
  await withProgress(say, 'services finish what is in flight', Promise.all(stopping))
  for (const name of ASTERISK_PROCESSES) await stopDaemon(home, name, 10_000)
  await composeProvider(home, say, options).stop()
  const local = localProvider(home, say, options.discardData ? { stopGraceMs: 0 } : {})
  await withProgress(say, 'RabbitMQ and Redis are stopping', local.stop())
  removeStackFile(home)
  if (options.discardData) rmSync(home.path, { recursive: true, force: true })
}
