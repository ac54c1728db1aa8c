import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readStackOptions, stackEnvironment, startStack, stopStack } from '@switchhook/local'
import { freePort, joinTestRun, leaveTestRun, repository, temporaryFolder } from '@switchhook/test-servers'
import { startChangedAnswers } from './changed-answers.ts'
import { fetchGenerator } from './fetch-generator.ts'
import { LANGUAGES, type Language } from './languages.ts'
import { runStep } from './run-step.ts'
import { runSchemathesis } from './schemathesis.ts'
import { tryReceiver } from './try-receiver.ts'

const BUILD_MINUTES = 8
const RUN_MINUTES = 2

const home = resolve(repository, process.env['SWITCHHOOK_HOME'] ?? '.local', 'clients')
const tools = join(home, 'tools')
const documentFile = join(repository, 'docs/openapi.json')
const build = { DOCUMENT: documentFile, PROGRAMS: join(repository, 'tools/clients/programs'), TOOLS: tools }

const page = readFileSync(join(repository, 'docs/clients.md'), 'utf8')
const examples = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)

const exampleWith = (marks: string): string => {
  const code = examples.find((one) => one.includes(marks))
  if (code === undefined) throw new Error(`docs/clients.md has no example with ${marks}`)
  return code
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

const missingOf = ({ needs }: Language): string[] => needs.filter((program) => !isThere(program))

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
for (const language of wanted) {
  const missing = missingOf(language)
  if (missing.length > 0) console.log(`  SKIPPED ${language.name}: there is no ${missing.join(' and no ')}`)
}
const runnable = wanted.filter((language) => missingOf(language).length === 0)
if (runnable.some(({ needs }) => needs.includes('java'))) await fetchGenerator(tools)

// The stack comes first: the compilers would slow down its start.
const env = {
  ...stackEnvironment(process.env),
  SWITCHHOOK_HOME: temporaryFolder('switchhook-clients-'),
  API_PORT: '0',
  DEV_IDP_PORT: '0',
  REPLICAS_WORKER: '1',
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
const document = JSON.parse(readFileSync(documentFile, 'utf8')) as never
const changed = await startChangedAnswers(api, document)
/** A whole program can run against this one, because it keeps the values that the programs check. */
const later = await startChangedAnswers(api, document, ['state', 'status', 'statusCode', 'eventTypes', 'code'])
try {
  const run = {
    API: api,
    CHANGED_API: changed.url,
    TOKEN_URL: `${urls.devIdp}/acme/oauth2/v2.0/token`,
    TOKEN: await tokenOf(`${urls.devIdp}/acme/oauth2/v2.0/token`),
    HOOK: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
  }
  for (const language of runnable) {
    const folder = folderOf(language)
    mkdirSync(folder, { recursive: true })
    const built = await report(`${language.name}: generated and compiled`, async () => {
      const output = await runStep(language.build, folder, build, BUILD_MINUTES)
      return /^NOTE: (.*)/m.exec(output)?.[1]
    })
    const script = language.run
    if (!built || script === undefined) continue
    await report(`${language.name}: every step of the program`, async () => {
      await runStep(script, folder, { ...build, ...run }, RUN_MINUTES)
    })
    await report(`${language.name}: every step, with fields and values of a later version`, async () => {
      await runStep(script, folder, { ...build, ...run, API: later.url }, RUN_MINUTES)
    })
    const { example, marks = '', receiver } = language
    if (example === undefined) continue
    const file = join(folder, 'example.txt')
    const env = { ...build, ...run, EXAMPLE: file }
    await report(`${language.name}: the example of docs/clients.md`, async () => {
      writeFileSync(file, exampleWith(marks).replaceAll('https://switchhook.example.com', api))
      await runStep(example, folder, env, RUN_MINUTES)
    })
    if (receiver === undefined) continue
    await report(`${language.name}: the receiver of docs/clients.md`, async () => {
      const port = await freePort()
      writeFileSync(file, exampleWith(receiver.marks).replace('8080', String(port)))
      const start = (secret: string, stopped: AbortSignal) =>
        runStep(receiver.start, folder, { ...env, WEBHOOK_SECRET: secret }, RUN_MINUTES, stopped)
      await tryReceiver(start, port, delivered)
    })
  }
  if (only === undefined || /schemathesis/i.test(only)) {
    if (isThere('python3'))
      await report('schemathesis', () => runSchemathesis(join(home, 'schemathesis'), documentFile, run))
    else console.log('  SKIPPED schemathesis: there is no python3')
  }
} finally {
  changed.close()
  later.close()
  hook.close()
  await stopStack(options.home, () => undefined, { discardData: true })
  await leaveTestRun()
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0
