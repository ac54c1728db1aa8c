import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

type Numbers = Readonly<Record<string, number>>

/** A script of this folder in its own process. Its first message says that it is ready. */
export interface Child<Ready = Numbers> {
  /** The first message. */
  readonly ready: Ready
  readonly pid: number
  /** Sends a message and resolves to the next answer. One question at a time. */
  ask<Answer = Numbers>(question?: object): Promise<Answer>
  stop(): Promise<void>
}

export async function startChild<Ready = Numbers>(script: string, args: readonly string[] = []): Promise<Child<Ready>> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(path, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const heard = async <T>(): Promise<T> => {
    const [message] = (await once(child, 'message')) as [T]
    return message
  }
  const ready = await heard<Ready>()
  return {
    ready,
    pid: child.pid ?? 0,
    ask: <Answer>(question: object = {}) => {
      const answer = heard<Answer>()
      child.send(question)
      return answer
    },
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
