import { once } from 'node:events'
import { createServer } from 'node:net'
import joinRun from './join-run.mjs'
import { up } from './up.mjs'

/** Enough agents for each test to use its own, because an agent can be in few calls at a time. */
const agents = ['acme', 'globex'].flatMap((tenant) =>
  Array.from({ length: 300 }, (_, n) => ({
    agentUri: `sip:e2e-${n}@${tenant}.example`,
    tenant,
    device: `SIM/${tenant}-${n}`,
  })),
)

/** URIs that need encoding in a path. */
const odd = ['sip:jörg müller@acme.example', 'tel:+15557001', 'sip:odd?a=b#c/d%2Fe@acme.example'].map((agentUri) => ({
  agentUri,
  tenant: 'acme',
  device: null,
}))

/** Returns '' without Prometheus; the tests that need it are then skipped, and the reason is printed. */
async function findPrometheus() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { prometheusBinary, BackingUnavailable } = await import('../../tools/test-servers/dist/index.js')
  try {
    return await prometheusBinary((line) => process.stderr.write(`${line}\n`))
  } catch (error) {
    if (!(error instanceof BackingUnavailable)) throw error
    process.stderr.write(`NOT TESTED: dashboard and alert rules against a real Prometheus (${error.message})\n`)
    return ''
  }
}

/** An address on which a trace collector listens only during the tests that need it. */
async function freeEndpoint() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/**
 * Starts one stack for all end-to-end tests, like `make up`, with two replicas of each service, a short schedule of three
 * waits, and its own home.
 */
export default async function startStack() {
  // oxlint-disable-next-line no-restricted-imports -- the repository root depends on no package
  const { temporaryFolder } = await import('../../tools/test-servers/dist/index.js')
  await joinRun()
  Object.assign(process.env, {
    SWITCHHOOK_HOME: temporaryFolder('switchhook-e2e-'),
    API_PORT: '0',
    DEV_IDP_PORT: '0',
    REPLICAS_API: '2',
    REPLICAS_FANOUT: '2',
    REPLICAS_WORKER: '2',
    DELIVERY_RETRY_WAITS: '300ms,500ms,700ms',
    // A busy machine lets a receiver in the process of a test answer late.
    DELIVERY_TIMEOUT: '3s',
    SHUTDOWN_GRACE: '5s',
    // Low enough for one slow subscriber to exhaust it without isolation.
    DELIVERY_CONCURRENCY: '30',
    // More consecutive failures than any test causes that is not about the breaker.
    BREAKER_FAILURES: '20',
    BREAKER_COOLDOWN: '2s',
    SIMULATOR_AGENTS: JSON.stringify([...agents, ...odd]),
    WRAP_UP_SECONDS: '1',
    // All tests share two clients, so the limit must never apply.
    RATE_LIMIT: '999999999/1m',
    // Tests read the log lines of each event.
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: await freeEndpoint(),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  process.env.PROMETHEUS ??= await findPrometheus()
  await up(process.env)
}
