import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporaryFolderIn } from '@switchhook/test-servers'
import { MARK } from '../in-order.ts'
import type { Message } from '../run-part.ts'

/** Takes the place of Jest: what it does depends on the name of the project. */
const project = process.argv[process.argv.indexOf('--selectProjects') + 1] ?? ''
const isAgain = process.argv.includes('--runTestsByPath')
const path = join(process.cwd(), `${project}.test.ts`)

let number = 0
const send = (message: Message): Promise<void> => {
  number += 1
  process.stderr.write(`${MARK}${number}\n`)
  return post({ number, ...message })
}
const post = (sent: object): Promise<void> => new Promise((resolve) => process.send?.(sent, () => resolve()))
const begin = async (): Promise<void> => {
  await send({ kind: 'file', path })
  await send({ kind: 'test', name: 'it works' })
}
const ended = async (failure = ''): Promise<void> => {
  const failed = failure === '' ? 0 : 1
  await send({ kind: 'ended', path, passed: 1 - failed, failed, skipped: 0, ms: 1, failure })
  await send({ kind: 'complete' })
}
const end = async (failure = ''): Promise<void> => {
  await ended(failure)
  process.exit(failure === '' ? 0 : 1)
}
/** As Jest does it while something is open. */
const stay = async (): Promise<void> => {
  process.stderr.write('Jest did not exit 15 seconds after the test run has completed.\n')
  setInterval(() => {}, 60_000)
}

/**
 * Servers as tests have them: in sessions of their own, one with the output of its test, one without the environment of the
 * run, and their files.
 */
async function startServers(): Promise<void> {
  const inMemory = temporaryFolderIn('/var/tmp', 'data-')
  writeFileSync(join(tmpdir(), 'socket'), '')
  const servers = [
    spawn('sh', ['-c', "trap '' TERM INT HUP; sleep 600 & wait; wait"], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
    spawn('sleep', ['600'], { detached: true, stdio: 'ignore', cwd: inMemory, env: { PATH: process.env['PATH'] } }),
  ]
  await Promise.all(servers.map((server) => once(server, 'spawn')))
  process.stderr.write(`servers ${[process.pid, ...servers.map(({ pid }) => pid)].join(' ')} in ${inMemory}\n`)
}

const ACTS: Readonly<Record<string, () => Promise<void>>> = {
  good: async () => {
    await begin()
    await end()
  },
  built: async () => {
    await begin()
    await end(existsSync(join(tmpdir(), '..', 'result')) ? '' : 'the build has not ended')
  },
  servers: async () => {
    await startServers()
    await begin()
    setInterval(() => {}, 60_000)
  },
  crash: async () => {
    await startServers()
    await begin()
    process.kill(process.pid, 'SIGKILL')
  },
  'holds-output': async () => {
    await begin()
    // Without the environment and the folders of the run, by which its processes are found. It ends by itself.
    spawn('sleep', ['30'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'], env: {}, cwd: '/' }).unref()
    await end()
  },
  unsteady: async () => {
    await begin()
    spawnSync('sh', ['-c', 'echo the reason of the child >&2'], { stdio: ['ignore', 'ignore', 'inherit'] })
    await end(isAgain ? '' : 'expected 1, received 2')
  },
  stays: async () => {
    if (isAgain) return end()
    await begin()
    const log = join(tmpdir(), 'home', 'log')
    mkdirSync(log, { recursive: true })
    const lines = [
      '1970-01-01 00:00:00.0+00:00 [error] <0.1.0> early',
      '2100-01-01 00:00:00.0+00:00 [error] <0.1.0> no leader',
    ]
    writeFileSync(join(log, 'switchhook-1@localhost.log'), lines.join('\n'))
    await ended('expected 1, received 2')
    await stay()
  },
  'stays-passed': async () => {
    await begin()
    await ended()
    await stay()
  },
  unavailable: async () => {
    await post({ kind: 'unavailable', cause: 'no Redis; install redis-server' })
    setInterval(() => {}, 60_000)
  },
}
await ACTS[project]?.()
