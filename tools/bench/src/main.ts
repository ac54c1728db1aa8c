import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { devTenant, requestToken } from '@switchhook/dev-idp'
import { readStackOptions, stackEnvironment, startStack, stopStack } from '@switchhook/local'
import { loadConfig } from '@switchhook/runtime'
import { joinTestRun, leaveTestRun } from '@switchhook/test-servers'
import { type Bench, benchFields, closing } from './bench.ts'
import { TENANTS } from './figures/deliveries.ts'
import { FIGURE_NAMES, type FigureName, MEASUREMENTS } from './figures.ts'
import { round } from './measure/statistics.ts'
import { fillPage, tablesOf } from './report/fill-page.ts'
import { describeMachine, type Results, wantedFigures } from './report/results.ts'
import { compareWithTargets } from './report/targets.ts'

const say = (line: string): void => console.log(line)
const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
const resultsFile = join(docs, 'benchmarks', 'results.json')
const pageFile = join(docs, 'benchmarks.md')

const readResults = (): Results => JSON.parse(readFileSync(resultsFile, 'utf8')) as Results

async function measure(name: FigureName, bench: Omit<Bench, 'defer'>, loadAverage: number): Promise<void> {
  say(MEASUREMENTS[name].title)
  const figure = await closing<unknown>(bench, (whole) => MEASUREMENTS[name].measure(whole))
  if (figure === undefined) return
  const taken = {
    at: new Date().toISOString(),
    machine: describeMachine(),
    providers: bench.stack.providers,
    loadAverage,
    figure,
  }
  const results = { ...readResults(), [name]: taken }
  // After each figure, so that a later failure loses nothing.
  writeFileSync(resultsFile, `${JSON.stringify(results)}\n`)
  writeFileSync(pageFile, fillPage(readFileSync(pageFile, 'utf8'), results))
  say(tablesOf(name, results).join('\n\n'))
}

/** Requests are counted as usual, but the limit is never reached. */
const COUNTED_ONLY = '999999999/1m'

/** Starts a stack of its own from nothing, and always stops it. */
async function withStack(
  env: NodeJS.ProcessEnv,
  setting: object,
  use: (bench: Omit<Bench, 'defer'>) => Promise<void>,
): Promise<void> {
  const home = join(env['SWITCHHOOK_HOME'] || '.local', 'bench')
  const options = { ...readStackOptions(env), home, apiPort: 0, idpPort: 0 }
  // All listeners of a figure have one token.
  const limits = { RATE_LIMIT: COUNTED_ONLY, STREAM_LISTENERS_PER_CLIENT: '200' }
  // For profiles of the services (docs/performance.md).
  const ofNode = env['NODE_OPTIONS'] ? { NODE_OPTIONS: env['NODE_OPTIONS'] } : {}
  const settings = { ...limits, DEV_IDP_TENANTS: String(TENANTS), ...stackEnvironment(env), ...ofNode, ...setting }
  const discard = (): Promise<void> => stopStack(home, say, { discardData: true })
  await discard()
  await using closers = new AsyncDisposableStack()
  closers.defer(discard)
  // A figure cannot be interrupted. A process that is still starting ends with this one (`joinTestRun`).
  const interrupt = (): void => {
    // The load loses its connections.
    process.on('uncaughtException', () => {})
    void discard().finally(() => process.exit(1))
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, interrupt)
    closers.defer(() => void process.off(name, interrupt))
  }
  const stack = await startStack(options, settings, say)
  const tokenOf = (tenant = 'acme'): Promise<string> => requestToken(stack.urls.devIdp, devTenant(tenant))
  const bringUp: Bench['bringUp'] = (more = {}, replicas = {}) =>
    startStack({ ...options, replicas: { ...options.replicas, ...replicas } }, { ...settings, ...more }, () => {})
  await use({ stack, tokenOf, say, options: loadConfig(benchFields, env), bringUp })
}

async function bench(env: NodeJS.ProcessEnv): Promise<void> {
  const wanted = wantedFigures(env['FIGURES'], FIGURE_NAMES)
  const loadAverage = round(loadavg()[0] ?? 0)
  say(`load average of the last minute: ${loadAverage}`)
  for (const setting of new Set(wanted.map((name) => MEASUREMENTS[name].setting))) {
    const together = wanted.filter((name) => MEASUREMENTS[name].setting === setting)
    await withStack(env, setting, async (stack) => {
      for (const name of together) {
        // Report the error, keep measuring, exit non-zero at the end.
        await measure(name, stack, loadAverage).catch(fail)
      }
    })
  }
  for (const { figure, target, measured, verdict } of compareWithTargets(readResults())) {
    say(`${verdict.padEnd(12)} ${figure}: ${measured} (target ${target})`)
  }
  say('written: docs/benchmarks.md, docs/benchmarks/results.json')
}

function fail(error: unknown): void {
  console.error(error)
  process.exitCode = 1
}

joinTestRun()
await bench(process.env).catch(fail)
await leaveTestRun()
