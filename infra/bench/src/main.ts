import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
import { readStackOptions, startStack, stopStack } from '@switchhook/local'
import { AGENTS, measureCommands } from './commands-figure.ts'
import { measureDeliveries } from './deliveries-figure.ts'
import { describeMachine } from './machine.ts'
import { plotCommands, plotDeliveries } from './plot.ts'
import { type Results, renderReport } from './report.ts'

const say = (line: string): void => console.log(line)
const docs = fileURLToPath(new URL('../../../docs', import.meta.url))

async function requestToken(devIdp: string): Promise<string> {
  const [{ tenant, clientId, clientSecret }] = DEV_TENANTS
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

/** A stack of its own, from nothing, and taken down again whatever happens. */
async function bench(env: NodeJS.ProcessEnv): Promise<void> {
  const home = join(env['SWITCHHOOK_HOME'] || '.local', 'bench')
  const options = { ...readStackOptions(env), home, apiPort: 0, idpPort: 0 }
  await stopStack(home, say, { discardData: true })
  const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]
  try {
    const stack = await startStack(
      options,
      { ...env, SIMULATOR_AGENTS: JSON.stringify(agents), WRAP_UP_SECONDS: '0', LOG_LEVEL: 'warn' },
      say,
    )
    const token = await requestToken(stack.urls.devIdp)
    say('commands accepted, beside a bare server')
    const commands = await measureCommands(stack, token, say)
    say('deliveries, beside BullMQ with axios and a bare loop')
    const deliveries = await measureDeliveries(stack, token, say)
    const results: Results = {
      at: new Date().toISOString(),
      machine: describeMachine(),
      rungs: stack.rungs,
      commands,
      deliveries,
    }
    mkdirSync(join(docs, 'benchmarks'), { recursive: true })
    writeFileSync(join(docs, 'benchmarks', 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`)
    writeFileSync(join(docs, 'images', 'benchmark-commands.svg'), plotCommands(results))
    writeFileSync(join(docs, 'images', 'benchmark-deliveries.svg'), plotDeliveries(results))
    writeFileSync(join(docs, 'benchmarks.md'), renderReport(results))
    const { commands: accepted, ratio, events } = commands
    say(`commands accepted: ${accepted.perSecond}/s, p99 ${accepted.p99Ms} ms, ${ratio} of a bare server`)
    say(`events: ${events.events}, ${events.missing} missing, ${events.unended} legs without an end`)
    say(
      `deliveries: ${deliveries.ours.perSecond}/s, ${deliveries.toBullmq} of BullMQ with axios, ${deliveries.toBare} of a bare loop`,
    )
    say('written: docs/benchmarks.md, docs/benchmarks/results.json')
  } finally {
    await stopStack(home, say, { discardData: true })
    rmSync(home, { recursive: true, force: true })
  }
}

bench(process.env).catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
