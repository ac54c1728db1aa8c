import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The bare server in a process of its own. */
export async function startBaseline(redisUrl: string): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const script = fileURLToPath(new URL('baseline-server.js', import.meta.url))
  const child = fork(script, [redisUrl], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
