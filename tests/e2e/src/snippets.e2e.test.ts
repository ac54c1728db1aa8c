import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { CallState } from '@switchhook/client'
import { eventually, startReceiver } from '@switchhook/testkit'
import { type Client, openClient } from './client.ts'
import { readStack } from './stack.ts'

const AGENT = 'sip:e2e-282@acme.example'
const PATIENT = { timeoutMs: 60_000 }
jest.setTimeout(240_000)

let client: Client
let folder = ''
const running: ChildProcess[] = []
const created: string[] = []

beforeAll(async () => {
  client = await openClient('acme')
  // The snippets import the packages as the tests do.
  const modules = join(import.meta.dirname, '../node_modules')
  mkdirSync(modules, { recursive: true })
  folder = mkdtempSync(join(modules, '.snippets-'))
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  for (const id of created) await client.api.subscriptions.delete(id)
  rmSync(folder, { recursive: true })
})

/** The `ts` blocks of a page as they stand, with the addresses of this stack and an agent of this test. */
function snippetsOf(page: string): string[] {
  const { urls } = readStack()
  const text = readFileSync(join(import.meta.dirname, '../../..', page), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) =>
    code
      .replaceAll(/https:\/\/switchhook\.example\.com|http:\/\/127\.0\.0\.1:8080/g, urls.apis[0])
      .replaceAll('http://127.0.0.1:8090', urls.devIdp)
      .replaceAll('https://login.microsoftonline.com/<tenant>', `${urls.devIdp}/acme`)
      .replaceAll('<client id>', 'acme-app')
      .replaceAll('<service application id>', 'switchhook')
      .replaceAll('sip:alice@acme.example', AGENT),
  )
}

interface Running {
  readonly ended: Promise<number>
  output(): string
}

function start(code: string, env: NodeJS.ProcessEnv = {}): Running {
  const file = join(folder, `snippet-${running.length}.js`)
  writeFileSync(file, stripTypeScriptTypes(code))
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env['PATH'], CLIENT_SECRET: 'acme-secret', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { ended: once(child, 'close').then(([code]) => Number(code)), output: () => output }
}

/** A snippet that imports nothing continues the one that creates the client. */
const begun = (creation: string, code: string): string =>
  code.startsWith('import')
    ? code
    : `import { NoAnswer, SignInFailed, SwitchhookError } from '@switchhook/client'
${creation}
${code.replace(/^declare function (\w+).*$/m, "const $1 = async () => ''")}`

/** A call of the agent that has ended. */
async function endedCall(): Promise<string> {
  const callId = await client.dial(AGENT, '+15550101')
  await eventually(async () => {
    const { legs } = await client.api.calls.read(callId)
    expect(legs.map(({ state }) => state)).toEqual([CallState.ended])
  }, PATIENT)
  return callId
}

test.each(['packages/products/client/README.md', 'docs/client.md'])('the snippets of %s run', async (page) => {
  const [creation = '', ...others] = snippetsOf(page)
  const [createClient = ''] = creation.split(/^const \{/m)
  const callId = await endedCall()
  for (const code of [creation, ...others]) {
    const snippet = start(begun(createClient, code.replaceAll('<call id>', callId)))
    if (/stream\(/.test(code) && !code.includes('break')) {
      // It follows the stream for ever: what happens meanwhile is shown.
      await eventually(async () => {
        // The same status again would be no event.
        for (const statusCode of ['66', '82']) await client.api.agents.setPresence(AGENT, { statusCode })
        expect(snippet.output()).toContain('agent.status')
      }, PATIENT)
      continue
    }
    // A call ends when its other party hangs up.
    if (code.includes('calls.dial')) await hangUpWhenConnected()
    expect([code, await snippet.ended, snippet.output()]).toEqual([code, 0, expect.not.stringContaining('Error:')])
  }
  for await (const { id, url } of client.api.subscriptions.list()) {
    if (url?.startsWith('https://client.example/')) created.push(id)
  }
})

async function hangUpWhenConnected(): Promise<void> {
  await eventually(async () => {
    const { items } = await client.api.calls.list({ agentUri: AGENT }).page()
    const live = items.find(({ state }) => state === CallState.connected)
    if (live === undefined) throw new Error('no call is connected')
    await client.api.calls.hangup(live.callId, { agentUri: AGENT })
  }, PATIENT)
}

test('the program of docs/first-webhook.md prints each state of a call', async () => {
  const free = await startReceiver()
  const { port } = new URL(free.url('/'))
  await free.close()
  const [code = ''] = snippetsOf('docs/first-webhook.md')
  const program = start(code.replaceAll(/\b3000\b/g, port))
  expect([await program.ended, program.output()]).toEqual([0, expect.not.stringContaining('Error:')])
  const states = new Set([...program.output().matchAll(/state (\d)/g)].map(([, state]) => Number(state)))
  expect(states).toEqual(new Set([1, 3, 7, 8]))
})

test.each(['packages/products/receiver/README.md', 'docs/receiver.md'])(
  'the receiver check says that the receiver of twenty lines in %s is good',
  async (page) => {
    const free = await startReceiver()
    const url = free.url('/')
    await free.close()
    const { id, secret } = await client.api.subscriptions.create({ url, eventTypes: ['call.status', 'agent.status'] })
    created.push(id)
    const [code = ''] = snippetsOf(page)
    expect(code.split('\n').length).toBeLessThan(30)
    const receiver = start(
      code.replace(/\b3000\b/, new URL(url).port).replace('receiver.db', join(folder, `${id}.db`)),
      {
        WEBHOOK_SECRET: secret,
      },
    )
    // On a busy machine an answer can take longer than the check allows.
    await eventually(async () => {
      const { verdict } = await client.api.subscriptions.check(id)
      expect([verdict, receiver.output()]).toEqual(['good', expect.not.stringContaining('Error:')])
    }, PATIENT)
  },
)
