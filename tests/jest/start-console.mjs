import joinRun from './join-run.mjs'
import { up } from './up.mjs'

/** The console's tests see these agents. */
const agents = [
  ...['alice', 'bob', 'dana', 'emil', 'fay'].map((name) => ({ name, tenant: 'acme' })),
  { name: 'carol', tenant: 'globex' },
].map(({ name, tenant }) => ({ agentUri: `sip:${name}@${tenant}.example`, tenant, device: `SIM/${name}` }))

/** The environment of the stack. Jest runs it next to the stack of the end-to-end tests, so it sets all that matters. */
const settings = (home) => ({
  ...process.env,
  SWITCHHOOK_HOME: home,
  AMQP_URL: '',
  REDIS_URL: '',
  MANAGEMENT_URL: '',
  API_PORT: '0',
  DEV_IDP_PORT: '0',
  REPLICAS_API: '1',
  REPLICAS_FANOUT: '1',
  REPLICAS_WORKER: '1',
  DELIVERY_RETRY_WAITS: '1s,2s,1m,5m',
  DELIVERY_TIMEOUT: '1s',
  BREAKER_FAILURES: '20',
  BREAKER_COOLDOWN: '5s',
  SHUTDOWN_GRACE: '5s',
  WRAP_UP_SECONDS: '2',
  SIMULATOR_AGENTS: JSON.stringify(agents),
  // The default: people name their organization.
  CONSOLE_CHOOSER: 'off',
  RATE_LIMIT: '6000/1m',
  LOG_LEVEL: 'info',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
})

/** Returns '' without a Chromium; the tests are then skipped, and the reason is printed. */
async function findChromium() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { chromiumBinary, BackingUnavailable } = await import('../../tools/test-servers/dist/index.js')
  try {
    return await chromiumBinary((line) => process.stderr.write(`${line}\n`))
  } catch (error) {
    if (!(error instanceof BackingUnavailable)) throw error
    process.stderr.write(`NOT TESTED: the console in a browser (${error.message})\n`)
    return ''
  }
}

/**
 * Starts a stack of its own for the tests of the console. Without a Chromium it starts nothing, and with
 * `CONSOLE_TESTS_HOME` the tests use the running stack of that home.
 */
export default async function startConsole() {
  process.env.CHROMIUM ??= await findChromium()
  if (process.env.CHROMIUM === '' || process.env.CONSOLE_TESTS_HOME !== undefined) return
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { temporaryFolder } = await import('../../tools/test-servers/dist/index.js')
  await joinRun()
  const home = temporaryFolder('switchhook-console-')
  process.env.CONSOLE_TESTS_HOME = home
  process.env.CONSOLE_TESTS_OWN = home
  await up(settings(home))
}
