import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { processIdentity } from './pid-file.ts'
import { waitUntil } from './wait-until.ts'

const started: ChildProcess[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function start(script: string): ChildProcess {
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] })
  started.push(child)
  return child
}

test('the identity is stable while a process runs and differs between processes', async () => {
  const child = start('exec sleep 60')
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const identity = await processIdentity(pid)
  expect(identity).toBeDefined()
  await expect(processIdentity(pid)).resolves.toBe(identity)
  await expect(processIdentity(process.pid)).resolves.not.toBe(identity)
  child.kill()
  await once(child, 'exit')
  await expect(processIdentity(pid)).resolves.toBeUndefined()
})

test('a zombie does not count as running', async () => {
  // The second cat takes the place of the shell and never asks after the first one, which reads another pipe: a
  // background command gets an empty standard input.
  const parent = start('cat <&3 >/dev/null & echo $!; exec cat')
  const [line] = (await once(parent.stdout ?? parent, 'data')) as [Buffer]
  const zombie = Number(line.toString())
  // A shell that still ran would ask: it has gone when its successor repeats what it reads.
  parent.stdin?.write('.')
  await once(parent.stdout ?? parent, 'data')
  const [, , , pipe] = parent.stdio
  if (!(pipe instanceof Writable)) throw new Error('the pipe is missing')
  pipe.end()
  await waitUntil(async () => (await processIdentity(zombie)) === undefined, 5_000)
  expect(() => process.kill(zombie, 0)).not.toThrow()
  await expect(processIdentity(zombie)).resolves.toBeUndefined()
})
