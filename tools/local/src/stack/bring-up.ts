import { setTimeout as pause } from 'node:timers/promises'
import { DaemonFailed, openHome, runningPid, type Say, stopDaemon } from '@switchhook/test-servers'
import { interruption } from './interruption.ts'
import { membersOf } from './members.ts'
import type { StackFile } from './stack-file.ts'
import type { StackOptions } from './stack-options.ts'
import { startStack } from './start-stack.ts'
import { stopStack } from './stop-stack.ts'

const BETWEEN_STOPS_MS = 200

/**
 * Starts the stack. If the start fails or is interrupted, nothing of it is left running. A stack that ran before keeps its
 * processes.
 * @throws DaemonFailed
 */
export async function bringUp(options: StackOptions, env: NodeJS.ProcessEnv, say: Say): Promise<StackFile> {
  const home = openHome(options.home)
  const names = membersOf(options).map(({ name }) => name)
  const ran = await Promise.all([...names, 'rabbitmq', 'redis'].map((name) => runningPid(home, name)))
  const stop = async (): Promise<void> => {
    if (ran.every((pid) => pid === undefined)) return stopStack(home.path, () => {})
    await Promise.all(names.filter((_name, at) => ran[at] === undefined).map((name) => stopDaemon(home, name)))
  }
  const interrupted = interruption().then((signal): never => {
    throw new DaemonFailed(`make up was interrupted by ${signal}`)
  })

  const starting = startStack(options, env, say)
  try {
    return await Promise.race([starting, interrupted])
  } catch (error) {
    say(`stopping what was started; logs: ${home.logDir}`)
    const over = Promise.allSettled([starting]).then(() => true)
    // An interrupted start may begin further processes until one that it waits for has ended.
    do await stop()
    while (!(await Promise.race([over, pause(BETWEEN_STOPS_MS, false)])))
    await stop()
    throw error
  }
}
