import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A script of this package in a process of its own, which speaks when it is ready. */
export interface Child {
  /** What it said first. */
  readonly ready: Readonly<Record<string, number>>
  /** Sends a message, and resolves to the next answer. */
  ask(): Promise<Readonly<Record<string, number>>>
  stop(): Promise<void>
}

export async function startChild(script: string, args: readonly string[] = []): Promise<Child> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(path, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const heard = async (): Promise<Readonly<Record<string, number>>> => {
    const [message] = (await once(child, 'message')) as [Readonly<Record<string, number>>]
    return message
  }
  const ready = await heard()
  return {
    ready,
    ask: () => {
      const answer = heard()
      child.send('?')
      return answer
    },
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
