import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '../process/wait-until.ts'

const program = join(import.meta.dirname, '..', 'testing', 'own-run.ts')
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'own-run-'))
})
afterEach(() => rm(folder, { recursive: true }))

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`)

test.each([
  ['SIGINT', 'process'],
  ['SIGTERM', 'process'],
  ['SIGHUP', 'process'],
  ['SIGKILL', 'process'],
  ['SIGKILL', 'make'],
] as const)('after %s of its %s, nothing of a run is left', async (signal, whose) => {
  const { TEST_RUN: _, MAKELEVEL: __, ...env } = process.env
  // A shell stands for `make`. Without the colon, it would become the program.
  const make = spawn('sh', ['-c', '"$0" --conditions=source "$1"; :', process.execPath, program], {
    env: { ...env, MAKELEVEL: '1', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  make.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect(await waitUntil(async () => said.includes('\n'), 60_000)).toBe(true)
  const [own = 0, server = 0] = said.split(' ').map(Number)
  expect([own, server].filter(isRunning)).toEqual([own, server])

  process.kill(whose === 'make' ? (make.pid ?? 0) : own, signal)
  const isClear = async (): Promise<boolean> => ![own, server].some(isRunning) && readdirSync(folder).length === 0
  expect(await waitUntil(isClear, 10_000)).toBe(true)
})
