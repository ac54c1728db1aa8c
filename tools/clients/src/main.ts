import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readStackOptions, stackEnvironment, startStack, stopStack } from '@switchhook/local'
import { freePort, joinTestRun, leaveTestRun, repository, temporaryFolder } from '@switchhook/test-servers'
import { AGENTS, beginAttendedTransfer } from './attended-transfer.ts'
import { changed, type Document, startChangedAnswers } from './changed-answers.ts'
import { fetchGenerator } from './fetch-generator.ts'
import { LANGUAGES, type Language, listingOf, receiverListing } from './languages.ts'
import type { Listing } from './page.ts'
import { runStep } from './run-step.ts'
import { runSchemathesis } from './schemathesis.ts'
import { tryReceiver } from './try-receiver.ts'

const BUILD_MINUTES = 8
const RUN_MINUTES = 2

const home = resolve(repository, process.env['SWITCHHOOK_HOME'] ?? '.local', 'clients')
const tools = join(home, 'tools')
const DELIVERY = { $ref: '#/components/schemas/CallStatusDelivery' }
const documentFile = join(repository, 'docs/openapi.json')

/** Writes the file of a listing, with the addresses of this run. */
function writeListing({ file, code }: Listing, folder: string, replaced: Readonly<Record<string, string>>): void {
  if (file === '') return
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  const changed = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), code)
  writeFileSync(join(folder, file), changed)
}

const counts = { passed: 0, failed: 0 }

/** Runs one part of the test and reports it. A failure does not stop the others. */
async function report(name: string, work: () => Promise<string | void>): Promise<boolean> {
  const beganMs = performance.now()
  try {
    const note = await work()
    console.log(`  ok      ${name} (${Math.round((performance.now() - beganMs) / 1_000)} s)${note ? `: ${note}` : ''}`)
    counts.passed++
    return true
  } catch (error) {
    console.log(`  FAILED  ${name}\n${error instanceof Error ? error.message : String(error)}`)
    counts.failed++
    return false
  }
}

const isThere = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

const missingIn = (programs: readonly string[]): string[] => programs.filter((program) => !isThere(program))

const skip = (name: string, missing: readonly string[]): void =>
  console.log(`  SKIPPED ${name}: there is no ${missing.join(' and no ')}`)

async function tokenOf(url: string): Promise<string> {
  const form = {
    grant_type: 'client_credentials',
    client_id: 'acme-app',
    client_secret: 'acme-secret',
    scope: 'switchhook/.default',
  }
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  return ((await answer.json()) as { readonly access_token: string }).access_token
}

const folderOf = ({ name }: Language): string => join(home, name.replaceAll(/\W+/g, '-').toLowerCase())

joinTestRun()
mkdirSync(tools, { recursive: true })
const only = process.env['CLIENTS']
const wanted = LANGUAGES.filter(({ name }) => only === undefined || new RegExp(only, 'i').test(name))
const runnable = wanted.filter(({ name, needs }) => {
  const missing = missingIn(needs)
  if (missing.length > 0) skip(name, missing)
  return missing.length === 0
})
if (runnable.some(({ needs }) => needs.includes('java'))) await fetchGenerator(tools)

// The stack comes first: the compilers would slow down its start.
const env = {
  ...stackEnvironment(process.env),
  SWITCHHOOK_HOME: temporaryFolder('switchhook-clients-'),
  API_PORT: '0',
  DEV_IDP_PORT: '0',
  REPLICAS_WORKER: '1',
  SIMULATOR_AGENTS: JSON.stringify(AGENTS),
}
const options = readStackOptions(env)
const { urls } = await startStack(options, env, () => undefined)
const api = urls.apis[0] ?? ''
/** The body of the last delivery, which the receivers of docs/clients.md get. */
let delivered = Buffer.alloc(0)
const hook = createServer((request, response) => {
  void (async () => {
    delivered = await buffer(request)
    response.writeHead(400).end()
  })()
})
await once(hook.listen(0, '127.0.0.1'), 'listening')
const document = JSON.parse(readFileSync(documentFile, 'utf8')) as Document
const otherAnswers = await startChangedAnswers(api, document)
/** A whole program can run against this one, because it keeps the values that the programs check. */
const later = await startChangedAnswers(api, document, ['state', 'status', 'statusCode', 'eventTypes', 'code'])
try {
  const token = await tokenOf(`${urls.devIdp}/acme/oauth2/v2.0/token`)
  const run = {
    API: api,
    CHANGED_API: otherAnswers.url,
    TOKEN_URL: `${urls.devIdp}/acme/oauth2/v2.0/token`,
    TOKEN: token,
    HOOK: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
    ...(await beginAttendedTransfer(api, token)),
  }
  for (const language of runnable) {
    const { name, receiver } = language
    const folder = folderOf(language)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    copyFileSync(documentFile, join(folder, 'openapi.json'))
    const listing = listingOf(language)
    const env = {
      ...run,
      PATH: [join(folder, 'venv/bin'), tools, process.env['PATH']].join(delimiter),
      PROGRAMS: join(repository, 'tools/clients/programs'),
      COMMANDS: listing.commands,
      // Compiled dependencies are kept between runs.
      CARGO_TARGET_DIR: join(home, 'cargo'),
      CARGO_PROFILE_DEV_DEBUG: '0',
    }
    const generated = await report(`${name}: the commands of docs/clients.md`, async () => {
      writeListing(listing, folder, { 'https://switchhook.example.com': api })
      await runStep(listing.commands, folder, env, BUILD_MINUTES)
    })
    if (!generated) continue
    const missing = missingIn(language.compileNeeds ?? [])
    if (missing.length > 0) {
      skip(`${name}: compiled`, missing)
      continue
    }
    const compiled = await report(`${name}: compiled`, async () => {
      await runStep(language.compile, folder, env, BUILD_MINUTES)
    })
    const script = language.run
    if (!compiled || script === undefined) continue
    await report(`${name}: every step of the program`, async () => {
      await runStep(script, folder, env, RUN_MINUTES)
    })
    await report(`${name}: every step, with fields and values of a later version`, async () => {
      await runStep(script, folder, { ...env, API: later.url }, RUN_MINUTES)
    })
    if (receiver === undefined) continue
    await report(`${name}: the receiver of docs/clients.md`, async () => {
      const port = await freePort()
      const received = receiverListing(receiver)
      writeListing(received, folder, { '8080': String(port) })
      const start = (secret: string, stopped: AbortSignal) =>
        runStep(received.commands, folder, { ...env, WEBHOOK_SECRET: secret }, BUILD_MINUTES, stopped)
      const ofLaterVersion = changed(JSON.parse(delivered.toString()), DELIVERY, document.components)
      await tryReceiver(start, port, delivered, Buffer.from(JSON.stringify(ofLaterVersion)))
    })
  }
  if (only === undefined || /schemathesis/i.test(only)) {
    if (isThere('python3'))
      await report('schemathesis', () => runSchemathesis(join(home, 'schemathesis'), documentFile, run))
    else skip('schemathesis', ['python3'])
  }
} finally {
  otherAnswers.close()
  later.close()
  hook.close()
  await stopStack(options.home, () => undefined, { discardData: true })
  await leaveTestRun()
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0
