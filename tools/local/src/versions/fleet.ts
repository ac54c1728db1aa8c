import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addressesOf, DEV_AUDIENCE } from '@switchhook/dev-idp'
import { httpSucceeds, openHome, repository, runCommand, stopDaemon } from '@switchhook/test-servers'
import { stackEnvironment } from '../stack/stack-environment.ts'
import { managementOf, type StackFile } from '../stack/stack-file.ts'
import { stopStack } from '../stack/stop-stack.ts'

type Version = 'old' | 'new'
type Service = keyof typeof REPLICAS

/** The versions of each service that should run, with one process per version. */
export type Fleet = Readonly<Record<Service, readonly Version[]>>

interface Member {
  readonly version: Version
  readonly service: Service
  /** Of the api of this version. */
  readonly url: string
  readonly readyUrl: string
}

export type RunningFleet = Awaited<ReturnType<typeof startFleet>>

const REPLICAS = { api: 'REPLICAS_API', fanout: 'REPLICAS_FANOUT', 'delivery-worker': 'REPLICAS_WORKER' } as const
const SERVICES = Object.keys(REPLICAS) as readonly Service[]
const NONE = Object.fromEntries(Object.values(REPLICAS).map((name) => [name, '0']))

/**
 * Starts services of two versions that share one RabbitMQ and one Redis, for tests of rolling updates.
 * @param folder holds the data of all processes
 * @param previous the folder of the built previous version
 * @param settings the environment of every service
 */
export async function startFleet(folder: string, previous: string, settings: NodeJS.ProcessEnv) {
  const checkouts: Readonly<Record<Version, string>> = { old: previous, new: repository }
  const base = {
    ...stackEnvironment(process.env),
    ...settings,
    API_PORT: '0',
    DEV_IDP_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
  }

  // A broker given by the environment is shared with other tests, whose services would consume the messages.
  const backing = await up(repository, join(folder, 'backing'), {
    ...base,
    ...NONE,
    AMQP_URL: '',
    REDIS_URL: '',
    MANAGEMENT_URL: '',
  })
  const { urls } = backing
  const managementUrl = managementOf(backing)
  const tenant = 'acme'
  const { issuer, jwksUri } = addressesOf(urls.devIdp, tenant)
  const env = {
    ...base,
    AMQP_URL: urls.amqp,
    REDIS_URL: urls.redis,
    MANAGEMENT_URL: managementUrl,
    // Each runner starts an identity provider; tokens come from this one.
    AUTH_ISSUERS: JSON.stringify([{ issuer, audience: DEV_AUDIENCE, tenant, jwksUri }]),
  }
  const homeOf = (version: Version): string => join(folder, version)
  const running = new Map<string, Member>()

  async function start(version: Version, fleet: Fleet): Promise<void> {
    const wanted = SERVICES.filter((service) => fleet[service].includes(version))
    if (wanted.every((service) => running.has(`${version} ${service}`))) return
    // A runner that is started with fewer replicas does not stop the others.
    const replicas = Object.fromEntries(wanted.map((service) => [REPLICAS[service], '1']))
    const { urls, healthPorts } = await up(checkouts[version], homeOf(version), { ...env, ...NONE, ...replicas })
    for (const service of wanted) {
      const readyUrl = `http://127.0.0.1:${healthPorts[`${service}-1`]}/readyz`
      running.set(`${version} ${service}`, { version, service, url: urls.apis[0] ?? '', readyUrl })
    }
  }

  return {
    devIdp: urls.devIdp,
    managementUrl,
    /** The running api processes, the old version first. */
    apis: (): readonly Member[] => (['old', 'new'] as const).flatMap((version) => running.get(`${version} api`) ?? []),
    /** Names of running services, with their version, whose `/readyz` does not answer 200. */
    notReady: async (): Promise<readonly string[]> => {
      const answers = [...running].map(async ([name, { readyUrl }]) => ((await httpSucceeds(readyUrl)) ? [] : [name]))
      return (await Promise.all(answers)).flat()
    },
    /** Starts missing processes, then stops those that are no longer wanted, like a rolling update. */
    become: async (fleet: Fleet): Promise<void> => {
      for (const version of ['old', 'new'] as const) await start(version, fleet)
      const leaving = [...running].filter(([, { version, service }]) => !fleet[service].includes(version))
      await Promise.all(
        leaving.map(([, { version, service }]) => stopDaemon(openHome(homeOf(version)), `${service}-1`)),
      )
      for (const [name] of leaving) running.delete(name)
    },
    /** Stops everything and discards its data. */
    stop: async (): Promise<void> => {
      await Promise.all([homeOf('old'), homeOf('new')].map((home) => stopStack(home, () => {})))
      await stopStack(join(folder, 'backing'), () => {}, { discardData: true })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Older checkouts have the runner in `infra`. */
function runnerOf(checkout: string): string {
  const runnerIn = (folder: string): string => join(checkout, folder, 'local', 'dist', 'main.js')
  return existsSync(runnerIn('tools')) ? runnerIn('tools') : runnerIn('infra')
}

async function up(checkout: string, home: string, env: NodeJS.ProcessEnv): Promise<StackFile> {
  const { ok, output } = await runCommand(process.execPath, [runnerOf(checkout), 'up'], {
    env: { ...env, SWITCHHOOK_HOME: home },
  })
  if (!ok) throw new Error(`make up of ${checkout} failed:\n${output}`)
  return JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as StackFile
}
