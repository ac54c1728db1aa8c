import { createClient } from '@switchhook/client'
import { DEV_TENANTS, requestToken } from '@switchhook/dev-idp'
import {
  BackingUnavailable,
  composeFile,
  freePort,
  missingDocker,
  runCommand,
  type Say,
  waitUntil,
} from '@switchhook/test-servers'
import { runScenario } from '../demo/run-scenario.ts'
import { createScreen } from '../demo/screen.ts'
import { startSubscriber } from '../demo/subscriber.ts'
import { verify } from '../demo/verify.ts'
import { LOAD_AGENTS, startLoad } from './load.ts'
import { reached, verifyDashboardHasData } from './prometheus.ts'

const PROJECT = 'switchhook-try'
const IMAGES = ['api', 'fanout', 'delivery-worker', 'dev-idp']
const AGENTS = ['alice', 'bob'].map((name) => ({
  agentUri: `sip:${name}@acme.example`,
  tenant: 'acme',
  device: `SIM/${name}`,
}))
/** The name by which a container reaches this machine; docker-compose.yml defines it. */
const THIS_MACHINE = 'host.docker.internal'
const urlOf = (port: number): string => `http://127.0.0.1:${port}`
/** The replicas of docker-compose.yml. */
const WORKERS = 2

/**
 * Builds and starts the stack of docker-compose.yml under its own project name, runs the demo scenario, checks
 * Prometheus, scales and kills containers under load, stops the stack and removes it with its data.
 * @throws StepFailed with the step that failed
 */
export async function tryContainers(say: Say): Promise<void> {
  const missing = await missingDocker()
  if (missing !== undefined) throw new BackingUnavailable(missing)
  // Docker must not choose a port, because it could take the one reserved for Prometheus, which starts last.
  const [apiPort, idpPort, prometheusPort] = [await freePort(), await freePort(), await freePort()]
  const project = openComposeProject(PROJECT, {
    API_PORT: String(apiPort),
    DEV_IDP_PORT: String(idpPort),
    PROMETHEUS_PORT: String(prometheusPort),
    RABBITMQ_MANAGEMENT_PORT: String(await freePort()),
    DELIVERY_RETRY_WAITS: '1s,2s,3s',
    WRAP_UP_SECONDS: '2',
    // The load is one client that retries several times a second while a replica is down.
    RATE_LIMIT: 'off',
    SIMULATOR_AGENTS: JSON.stringify([...AGENTS, LOAD_AGENTS]),
    NODE_ENV: 'development',
  })
  const [apiUrl, devIdpUrl, prometheusUrl] = [urlOf(apiPort), urlOf(idpPort), urlOf(prometheusPort)]
  const step = async (what: string, act: () => Promise<string>): Promise<void> => {
    const began = Date.now()
    say(`${what}: ${await act()} (${((Date.now() - began) / 1_000).toFixed(1)} s)`)
  }

  await remove(project)
  let isComplete = false
  try {
    await step('images', async () => {
      await project.compose('build')
      return (await Promise.all(IMAGES.map((name) => sizeOf(project, name)))).join(', ')
    })
    await step('docker compose up --wait', async () => {
      await project.compose('up', '--detach', '--wait')
      return `${(await project.containers()).length} containers, all healthy`
    })
    await step('the demo scenario', async () => {
      const screen = createScreen(() => {}, { colour: false })
      await runScenario({ apiUrl, devIdpUrl, waitsMs: [1_000, 2_000, 3_000], webhookHost: THIS_MACHINE }, screen)
      return 'every step verified'
    })
    await step('Prometheus', async () => {
      await project.compose('--profile', 'monitoring', 'up', '--detach', '--wait', '--no-recreate', 'prometheus')
      const all = waitUntil(async () => (await reached(prometheusUrl, 'delivery-worker')) === WORKERS, 60_000, 1_000)
      verify(await all, `Prometheus finds ${WORKERS} workers by name`)
      return 'finds the services by name'
    })
    await step('under load', () => disturb(project, apiUrl, devIdpUrl))
    await step('the dashboard', () => verifyDashboardHasData(prometheusUrl))
    await step('docker compose stop', () => stopInOrder(project))
    isComplete = true
  } finally {
    if (!isComplete) for (const line of await statusAndLogs(project)) say(line)
    await remove(project)
  }
  verify((await project.containers()).length === 0, 'no container is left')
  say('docker compose down --volumes: removed, no container is left')
}

async function sizeOf(project: ComposeProject, name: string): Promise<string> {
  const image = `switchhook/${name}:dev`
  const [bytes = '0'] = await project.docker('image', 'inspect', '--format', '{{.Size}}', image)
  return `${name} ${Math.round(Number(bytes) / 1e6)} MB`
}

/** Includes the services of all profiles. */
const remove = (project: ComposeProject): Promise<unknown> =>
  project.compose('--profile', '*', 'down', '--volumes', '--remove-orphans')

/** Scales the workers up and down and kills one container of each kind, while calls are made. */
async function disturb(project: ComposeProject, apiUrl: string, devIdpUrl: string): Promise<string> {
  const accessToken = await requestToken(devIdpUrl, DEV_TENANTS[0])
  await using subscriber = await startSubscriber(() => {}, THIS_MACHINE)
  const client = createClient({ baseUrl: apiUrl, auth: async () => accessToken })
  await client.subscriptions.create({ url: subscriber.url('/load'), eventTypes: ['call.status'] })
  using load = startLoad(client, subscriber, '/load')
  await scaleWorkers(project, 4)
  for (const service of ['delivery-worker', 'fanout', 'api', 'redis', 'rabbitmq']) {
    const [container = ''] = await project.containers(service)
    await project.docker('kill', '--signal', 'KILL', container)
    await project.docker('start', container)
  }
  // Services are not ready while RabbitMQ restarts, and `up --wait` fails if a service is not ready.
  const allWell = waitUntil(() => areHealthy(project), 180_000, 1_000)
  verify(await allWell, 'every container is healthy again')
  await scaleWorkers(project, WORKERS)
  const { calls, webhooks, twice } = await load.end()
  return `workers from 2 to 4 to 2, one container of each kind killed: ${calls} calls, ${webhooks} webhooks, none lost, ${twice} repeated`
}

async function areHealthy(project: ComposeProject): Promise<boolean> {
  const states = await project.compose('ps', '--all', '--format', '{{.Health}}')
  return states.every((state) => state === 'healthy')
}

async function scaleWorkers(project: ComposeProject, count: number): Promise<void> {
  const scale = ['--scale', `delivery-worker=${count}`, 'delivery-worker']
  await project.compose('up', '--detach', '--wait', '--no-build', '--no-recreate', ...scale)
  verify((await project.containers('delivery-worker')).length === count, `there are ${count} workers`)
}

/** Every service must exit on SIGTERM. A container that is killed after the grace period exits with 137. */
async function stopInOrder(project: ComposeProject): Promise<string> {
  await project.compose('stop', ...IMAGES)
  const ids = (await Promise.all(IMAGES.map((name) => project.containers(name)))).flat()
  const codes = await project.docker('inspect', '--format', '{{.Name}} {{.State.ExitCode}}', ...ids)
  const forced = codes.filter((line) => !line.endsWith(' 0'))
  verify(forced.length === 0, `every service exits on SIGTERM (${forced.join(', ')})`)
  return `${ids.length} containers exited on SIGTERM`
}

async function statusAndLogs(project: ComposeProject): Promise<readonly string[]> {
  try {
    return [...(await project.compose('ps', '--all')), ...(await project.compose('logs', '--tail', '20', '--no-color'))]
  } catch {
    return []
  }
}

type ComposeProject = ReturnType<typeof openComposeProject>

/** The stack of docker-compose.yml under its own project name. A failed command throws with its output. */
function openComposeProject(name: string, env: NodeJS.ProcessEnv) {
  async function run(args: readonly string[]): Promise<readonly string[]> {
    const { ok, stdout, output } = await runCommand('docker', args, {
      env: { ...process.env, ...env },
      timeoutMs: 600_000,
    })
    verify(ok, `docker ${args.join(' ')}\n${output.trim()}`)
    return stdout.split('\n').filter((line) => line !== '')
  }
  const compose = (...args: readonly string[]): Promise<readonly string[]> =>
    run(['compose', '--project-name', name, '--file', composeFile, ...args])
  return {
    /** Both return the lines of standard output. */
    compose,
    docker: (...args: readonly string[]) => run(args),
    /** The ids of a service's containers, including stopped ones. */
    containers: (service?: string) =>
      compose('ps', '--all', '--quiet', '--no-trunc', ...(service === undefined ? [] : [service])),
  }
}
