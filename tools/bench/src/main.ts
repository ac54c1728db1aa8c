import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addressesOf, DEV_SCOPE, type DevTenant, devTenants } from '@switchhook/dev-idp'
import { readStackOptions, startStack, stopStack } from '@switchhook/local'
import { loadConfig } from '@switchhook/runtime'
import type { Bench } from './bench.ts'
import { TENANTS } from './figures/deliveries.ts'
import { FIGURE_NAMES, MEASUREMENTS } from './figures.ts'
import { describeMachine } from './measure/machine.ts'
import { benchFields } from './options.ts'
import { renderPlots } from './report/plots.ts'
import { renderReport } from './report/report.ts'
import { type FigureName, type Results, wantedFigures } from './report/results.ts'
import { compareWithTargets } from './report/targets.ts'

const say = (line: string): void => console.log(line)
const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
const resultsFile = join(docs, 'benchmarks', 'results.json')

/** Requests are counted as usual, but the limit is never reached. */
const COUNTED_ONLY = '999999999/1m'

async function requestToken(devIdp: string, { tenant, clientId, clientSecret }: DevTenant): Promise<string> {
  const response = await fetch(addressesOf(devIdp, tenant).tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: DEV_SCOPE,
    }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

/** Starts a stack of its own from nothing, and always stops it. */
async function withStack(env: NodeJS.ProcessEnv, setting: object, use: (bench: Bench) => Promise<void>): Promise<void> {
  const home = join(env['SWITCHHOOK_HOME'] || '.local', 'bench')
  const options = { ...readStackOptions(env), home, apiPort: 0, idpPort: 0 }
  const settings = { RATE_LIMIT: COUNTED_ONLY, DEV_IDP_TENANTS: String(TENANTS), ...env, ...setting }
  await stopStack(home, say, { discardData: true })
  try {
    const stack = await startStack(options, settings, say)
    const tenants = devTenants(TENANTS)
    const tokenOf = (name: string): Promise<string> => {
      const tenant = tenants.find((known) => known.tenant === name)
      if (tenant === undefined) throw new Error(`the identity provider has no tenant ${name}`)
      return requestToken(stack.urls.devIdp, tenant)
    }
    const token = await tokenOf('acme')
    const bringUp: Bench['bringUp'] = (more = {}) => startStack(options, { ...settings, ...more }, () => {})
    await use({ stack, token, tokenOf, say, options: loadConfig(benchFields, env), bringUp })
  } finally {
    await stopStack(home, say, { discardData: true })
    rmSync(home, { recursive: true, force: true })
  }
}

function readResults(): Results {
  try {
    return JSON.parse(readFileSync(resultsFile, 'utf8')) as Results
  } catch {
    return {}
  }
}

/** Called after each figure, so that a later failure loses nothing. */
function write(results: Results): void {
  mkdirSync(join(docs, 'benchmarks'), { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`)
  for (const [name, svg] of Object.entries(renderPlots(results))) {
    writeFileSync(join(docs, 'images', `benchmark-${name}.svg`), svg)
  }
  writeFileSync(join(docs, 'benchmarks.md'), renderReport(results))
}

async function measure(name: FigureName, bench: Bench): Promise<void> {
  say(MEASUREMENTS[name].title)
  const figure = await MEASUREMENTS[name].measure(bench)
  if (figure === undefined) return
  const taken = { at: new Date().toISOString(), machine: describeMachine(), providers: bench.stack.providers, figure }
  write({ ...readResults(), [name]: taken })
}

async function bench(env: NodeJS.ProcessEnv): Promise<void> {
  const wanted = wantedFigures(env['FIGURES'], FIGURE_NAMES)
  for (const setting of new Set(wanted.map((name) => MEASUREMENTS[name].setting))) {
    const together = wanted.filter((name) => MEASUREMENTS[name].setting === setting)
    await withStack(env, setting, async (stack) => {
      for (const name of together) {
        // Report the error, keep measuring, exit non-zero at the end.
        await measure(name, stack).catch(fail)
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

bench(process.env).catch(fail)
