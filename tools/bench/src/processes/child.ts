import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'

type Numbers = Readonly<Record<string, number>>

/** Runs a script of this folder in its own process until the part is over. Its first message says that it is ready. */
export async function startChild<Ready = Numbers>(
  { defer }: Pick<Bench, 'defer'>,
  script: string,
  args: readonly (string | number)[] = [],
) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(path, args.map(String), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  defer(async () => {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  })
  const heard = async <T>(): Promise<T> => {
    const [message] = (await once(child, 'message')) as [T]
    return message
  }
  return {
    ready: await heard<Ready>(),
    pid: child.pid ?? 0,
    /** Sends a message and resolves to the next answer. One question at a time. */
    ask: <Answer = Numbers>(question: object = {}): Promise<Answer> => {
      const answer = heard<Answer>()
      child.send(question)
      return answer
    },
  }
}
