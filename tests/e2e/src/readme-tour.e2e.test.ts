import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { eventually, startReceiver } from '@switchhook/testkit'
import { readStack } from './stack.ts'

// Each command is a process of its own.
jest.setTimeout(300_000)
const PATIENT = { timeoutMs: 60_000 }

const repository = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'readme-tour-'))
type Shell = ChildProcessByStdio<null, Readable, Readable>

const running: Shell[] = []
afterAll(async () => {
  for (const child of running) await end(child)
  rmSync(folder, { recursive: true })
})

/** The shell blocks of the tour as they stand, with the addresses of this stack and agents of this test. */
function blocksOf(port: string): string[] {
  const { urls } = readStack()
  const [, tour = ''] = readFileSync(join(repository, 'README.md'), 'utf8').split(
    /^## A five-minute tour$|^## What a /m,
  )
  return [...tour.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) =>
    block
      .replaceAll('http://127.0.0.1:8080', urls.apis[0])
      .replaceAll('http://127.0.0.1:8090', urls.devIdp)
      .replaceAll('9000', port)
      .replaceAll('sip:alice@', 'sip:e2e-280@')
      .replaceAll('sip:bob@', 'sip:e2e-281@'),
  )
}

/**
 * Variables and functions live on from block to block, as in one terminal. A command that the present state refuses (5), or
 * whose call has not reached the agent yet (4), is repeated, as by a person who is slower than this test; `check` ends with a finding (1).
 */
const BEGINNING = `
set -e -o pipefail
. ./terminal 2> /dev/null || true
npx() {
  shift
  local code
  while :; do
    "${process.execPath}" "${repository}/packages/products/cli/bin/switchhook.js" "$@" && return 0 || code=$?
    case "$code $1" in '5 '* | '4 calls') ;; '1 check') return 0 ;; *) return $code ;; esac
  done
}
`
const END = `
{ declare -p $(compgen -v | grep -E '^([A-Z]+_ID|TOKEN|api)$'); declare -f; } > ./terminal
`

function start(script: string): Shell {
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own group, to end the programs that it starts too.
    detached: true,
  })
  running.push(child)
  return child
}

async function end(child: Shell): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await ended
}

/** Runs blocks, and returns what they print. @throws Error with everything that they have printed, if one fails */
async function run(...blocks: readonly string[]): Promise<string> {
  const child = start([BEGINNING, ...blocks, END].join('\n'))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (child.exitCode !== 0) throw new Error(`${blocks.join('\n')}\nended with ${child.exitCode}: ${stdout}\n${stderr}`)
  return stdout
}

/** Starts a program, and returns what it has printed so far. */
function follow(script: string): { readonly child: Shell; readonly output: () => string } {
  const child = start(script)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { child, output: () => output }
}

test('the tour of the README works as it stands', async () => {
  const free = await startReceiver()
  const blocks = blocksOf(new URL(free.url('/')).port)
  await free.close()
  const at = (words: string): string => {
    const found = blocks.filter((block) => block.includes(words))
    expect([words, found.length]).toEqual([words, 1])
    return found[0] ?? ''
  }
  expect(await run(at('switchhook login'))).toContain('acme')
  const receiver = follow(at('createServer'))
  const tail = follow(`${BEGINNING}npx switchhook events tail --json`)

  await run(at('subscriptions create'))
  const states = (): number[] =>
    [...receiver.output().matchAll(/^call\.status attempt 1 (.*)$/gm)].map(
      ([, body = '']) => (JSON.parse(body) as { data: { state: number } }).data.state,
    )
  await eventually(() => expect(states()).toEqual(expect.arrayContaining([1, 8, 3])), PATIENT)
  await run(at('calls hold'))
  expect(await run(at('--message "back at one"'))).toContain('back at one')
  await eventually(() => expect(tail.output()).toContain('back at one'), PATIENT)
  await eventually(async () => expect(await run(at('switchhook explain'))).toContain('delivered'), PATIENT)

  await end(receiver.child)
  const repelling = follow(at('createServer').replace('204', '410'))
  expect(repelling.child.exitCode).toBeNull()
  await run(at('--state parked'))
  await eventually(
    async () => expect(await run('npx switchhook deliveries list --state parked')).toContain('\t410\t'),
    PATIENT,
  )
  await end(repelling.child)
  const repaired = follow(at('createServer'))
  expect(await run(at('switchhook recover'))).toMatch(/^state\tdone$/m)
  await eventually(() => expect(repaired.output()).toContain('attempt 2'), PATIENT)

  expect(await run(at('grant_type=client_credentials'))).toContain('"eventId"')
  await run(
    'npx switchhook subscriptions delete $SUBSCRIPTION_ID',
    'npx switchhook agents presence sip:e2e-280@acme.example 2',
  )
})
