import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issuersSchema } from '@switchhook/api'
import {
  COMBINATIONS,
  type Combination,
  exampleFile,
  type KubernetesObject,
  type Labels,
  parseObjects,
  RENDERED,
  renderedFile,
  renderObjects,
  renderText,
  runHelm,
} from '@switchhook/chart'
import { parse } from 'yaml'
import { readCompose, unset } from './compose.ts'
import { dataOf, examplePod, objectNamed, podOf, shipped, workloadNamed } from './workloads.ts'

const combinations = Object.keys(COMBINATIONS) as Combination[]
const annotationsOf = (objects: readonly KubernetesObject[], name: string): Labels =>
  workloadNamed(objects, name).spec.template.metadata.annotations ?? {}

test.each(combinations)('helm lint accepts %s', (combination) => {
  const { status, stdout } = runHelm(['lint', '--strict'], combination)
  expect([status, stdout.match(/^\[(?:WARNING|ERROR)\].*/gm)]).toEqual([0, null])
})

test('Helm prints no warning with any command', () => {
  expect(runHelm(['template', 'switchhook'], 'everything')).toMatchObject({ status: 0, stderr: '' })
})

test('with trusted networks, the api is served under the names of its Service, Ingress and HTTPRoute', () => {
  const trusting = ['api.settings.DEPLOYMENT=on-premise', 'api.settings.TRUSTED_NETWORKS=10.0.0.0/8']
  const hosts = (combination: Combination, ...more: string[]) => {
    const objects = renderObjects(combination, { namespace: 'calls', overrides: [...trusting, ...more] })
    return dataOf(objects).get('ConfigMap api')?.['ALLOWED_HOSTS']
  }
  const named = 'api,api.calls,api.calls.svc,switchhook.example.com'
  expect(hosts('production')).toBe(named)
  expect(hosts('gateway', 'gateway.hostnames={switchhook.example.com,*.example.com}')).toBe(named)
  expect(hosts('production', 'api.settings.ALLOWED_HOSTS=other.example')).toBe('other.example')
  expect(dataOf(renderObjects('production')).get('ConfigMap api')).not.toHaveProperty('ALLOWED_HOSTS')
})

test.each(RENDERED)('infra/helm/rendered/%s.yaml is what Helm renders (otherwise run make chart)', (combination) => {
  expect(readFileSync(renderedFile(combination), 'utf8')).toBe(renderText(combination))
})

test('every object has the schema of its kind and no unknown field', () => {
  const examples = ['secrets', 'external-secrets', 'certificates', 'receiver', 'restore']
  const sources = Object.fromEntries([
    ...combinations.map((combination) => [combination, renderObjects(combination)] as const),
    ...examples.map((name) => [name, parseObjects(readFileSync(exampleFile(name), 'utf8'))] as const),
  ])
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=source', join(import.meta.dirname, 'check-schemas.ts')],
    { encoding: 'utf8', input: JSON.stringify(sources) },
  )
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ objects: Object.values(sources).flat().length, problems: [] })
  // Loading the schemas takes seconds of processor time.
}, 120_000)

test.each([
  ['an unknown value', 'api.replica=3', 'replica'],
  ['a variable that the chart sets itself', 'api.settings.REDIS_URL=redis://x', 'REDIS_URL'],
  ['a digest that is none', 'api.digest=sha256:1', 'digest'],
  ['public secrets in production', 'secrets.developmentDefaults=true', 'environment is production'],
  ['an identity provider for development in production', 'devIdp.enabled=true', 'environment is production'],
  ['production without a platform', 'api.settings.PLATFORM=', 'api.settings.PLATFORM is required in production'],
  ['Asterisk without its address', 'api.settings.PLATFORM=asterisk', 'asterisk.url is required'],
  [
    'Asterisk without its network',
    'api.settings.PLATFORM=asterisk,asterisk.url=https://pbx.example',
    'asterisk.networks is required',
  ],
  ['a file that the chart mounts', 'api.settings.ASTERISK_PASSWORD_FILE=/password', 'ASTERISK_PASSWORD_FILE'],
  [
    'a private network without ports',
    'networkPolicy.workerNetworks[0].cidr=10.0.0.0/8',
    '10.0.0.0/8 without ports: list the ports, or',
  ],
  ['no identity provider', 'api.authIssuers=null', 'api.authIssuers is required'],
  [
    'trusted networks behind an Ingress, whose address every client would have',
    'api.settings.TRUSTED_NETWORKS=10.0.0.0/8,api.settings.TRUST_PROXY=',
    'api.settings.TRUST_PROXY is required',
  ],
  [
    'trusted networks of all services behind a gateway',
    'settings.TRUSTED_NETWORKS=10.0.0.0/8,api.settings.TRUST_PROXY=,ingress.enabled=false,gateway.enabled=true,gateway.parentRefs[0].name=public',
    'api.settings.TRUST_PROXY is required',
  ],
  [
    'pods that are killed before their services have stopped',
    'settings.SHUTDOWN_GRACE=60s',
    'terminationGracePeriodSeconds is 45: api needs 70 s',
  ],
  [
    'the same for one service',
    'deliveryWorker.settings.SHUTDOWN_GRACE=1m',
    'terminationGracePeriodSeconds is 45: deliveryWorker needs 65 s',
  ],
  ['the same by a second', 'api.settings.SHUTDOWN_GRACE=36s', 'terminationGracePeriodSeconds is 45: api needs 46 s'],
  ['a volume too small for a rewrite', 'redis.storageGi=10', 'redis.storageGi is 10'],
  ['an external Redis without its network', 'redis.mode=external', 'redis.external.networks is required'],
  ['a proxy without its network', 'egressProxy.urlSecret=egress-proxy', 'egressProxy.networks is required'],
  ['TLS without an authority', 'redis.tls.enabled=true', 'redis.tls.caSecret is required'],
  [
    'a backup of an external Redis',
    'redis.mode=external,redis.external.networks={10.0.0.0/8},backup.enabled=true',
    'backup.enabled needs redis.mode internal',
  ],
  ['a route without a gateway', 'gateway.enabled=true', 'gateway.parentRefs is required'],
  ['more replicas at least than at most', 'api.autoscaling.minReplicas=11', 'api.autoscaling.minReplicas is 11'],
  ['an even number of broker nodes', 'rabbitmq.replicas=2', 'replicas'],
  ['a misspelt member of an issuer', 'api.authIssuers[0].role.claim=roles', 'role'],
  [
    'shards that differ',
    'fanout.settings.DELIVERY_SHARDS=4',
    'DELIVERY_SHARDS is 4 and 1 for fanout and deliveryWorker',
  ],
  [
    'shards that differ from those of all',
    'settings.EVENT_SHARDS=2,api.settings.EVENT_SHARDS=3',
    'EVENT_SHARDS is 3 and 2',
  ],
])('refuses %s', (_what, override, message) => {
  const { status, stderr } = runHelm(['template', 'switchhook'], 'production', [override])
  expect(status).not.toBe(0)
  expect(stderr).toContain(message)
})

test.each([
  [
    'trusted networks without an Ingress',
    'api.settings.TRUSTED_NETWORKS=10.0.0.0/8,api.settings.TRUST_PROXY=,ingress.enabled=false',
  ],
  ['the longest shutdown of the api', 'api.settings.SHUTDOWN_GRACE=35s'],
  ['that of the other services, and a longer one', 'settings.SHUTDOWN_GRACE=40s,api.settings.SHUTDOWN_GRACE=500ms'],
  ['more time for all', 'settings.SHUTDOWN_GRACE=60s,terminationGracePeriodSeconds=70'],
])('accepts %s', (_what, override) => {
  expect(runHelm(['template', 'switchhook'], 'production', [override])).toMatchObject({ status: 0 })
})

test('numbers reach the services, KEDA and the backup with all their digits', () => {
  const numbers = { EVENT_JOURNAL_SIZE: 1_000_000, OTEL_TRACES_SAMPLER_ARG: 0.01, WEBHOOK_REQUIRE_HTTPS: false }
  const values = {
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [`settings.${name}`, value])),
    'redis.memoryMi': 2_000_000,
    'redis.storageGi': 6_000,
    'backup.keep': 1_000_000,
    'deliveryWorker.autoscaling.messagesPerWorker': 1_000_000,
  }
  // JSON gives the numbers the type that those of a file have; `--set` does not.
  const json = Object.entries(values).map(([name, value]) => `--set-json=${name}=${value}`)
  const { stdout } = runHelm(['template', 'switchhook', ...json], 'everything')
  expect(dataOf(parseObjects(stdout)).get('ConfigMap switchhook')).toMatchObject(
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)])),
  )
  expect(stdout.split('\n').filter((line) => /\de\+\d/.test(line))).toEqual([])
})

test('the notes warn if the copies of the schedule can fill their volume', () => {
  const notes = (...overrides: string[]) =>
    runHelm(['install', 'switchhook', '--dry-run=client'], 'backup', overrides).stdout
  const warning = /WARNING: backup.storageGi is (.*)/
  expect(notes()).not.toMatch(warning)
  expect(warning.exec(notes('backup.storageGi=50,backup.keep=12'))?.[1]).toMatch(/^50\. 13 copies .* need 59\./)
})

describe('Identity providers', () => {
  const issuersOf = (combination: Combination): unknown =>
    JSON.parse(dataOf(renderObjects(combination)).get('ConfigMap api')?.['AUTH_ISSUERS'] ?? '[]')

  test('the schema of the values is that of the api', () => {
    const withoutDescriptions = (schema: unknown): unknown =>
      JSON.parse(JSON.stringify(schema), (_name, value: unknown) =>
        typeof value === 'object' && value !== null && 'description' in value && typeof value.description === 'string'
          ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'description'))
          : value,
      )
    const { properties } = JSON.parse(shipped('helm/switchhook/values.schema.json')) as {
      properties: { api: { properties: { authIssuers: unknown } } }
    }
    expect(withoutDescriptions(properties.api.properties.authIssuers)).toEqual(issuersSchema)
  })

  test('roles and console clients reach the api as they are written', () => {
    expect(issuersOf('console')).toEqual([
      {
        issuer: 'https://login.example.com/TENANT-ID/v2.0',
        audience: 'api://switchhook',
        tenant: 'acme',
        roles: { claim: 'roles', viewer: ['Reader'], operator: ['Operator'], admin: ['Admin'] },
        console: { clientId: 'CLIENT-ID', scope: 'openid offline_access api://switchhook/.default' },
      },
    ])
  })

  test('development has the identity providers of docker compose, with their roles and the console', () => {
    const { AUTH_ISSUERS } = readCompose().services['api']?.environment ?? {}
    expect(issuersOf('development')).toEqual(JSON.parse(unset(AUTH_ISSUERS ?? '')))
  })
})

describe('Paths that clients reach', () => {
  interface Routes {
    readonly ingress: { spec: { rules: [{ http: { paths: { path: string }[] } }] } }
    readonly route: { spec: { rules: [{ matches: { path: { value: string } }[] }] } }
  }
  const gateway = ['gateway.enabled=true', 'gateway.parentRefs[0].name=public']

  test.each<[string, Combination, readonly string[], readonly string[]]>([
    ['the API', 'production', [], ['/api/v1']],
    ['the API and the console', 'console', [], ['/api/v1', '/console']],
    ['no console that is off', 'console', ['api.settings.CONSOLE=off'], ['/api/v1']],
  ])('%s, by Ingress and by Gateway', (_what, combination, overrides, expected) => {
    const objects = renderObjects(combination, { overrides: [...overrides, ...gateway] })
    const { spec: ingress } = objectNamed(objects, 'Ingress', 'api') as unknown as Routes['ingress']
    const { spec: route } = objectNamed(objects, 'HTTPRoute', 'api') as unknown as Routes['route']
    expect(ingress.rules[0].http.paths.map(({ path }) => path)).toEqual(expected)
    expect(route.rules[0].matches.map(({ path }) => path.value)).toEqual(expected)
  })
})

test('pods that are not ready never block the drain of a node, those of the broker included', () => {
  const budgets = renderObjects('production').filter(({ kind }) => kind === 'PodDisruptionBudget')
  expect(budgets.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    'api',
    'delivery-worker',
    'fanout',
    'rabbitmq',
  ])
  for (const { spec } of budgets)
    expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })
})

test('every name with a namespace follows the release', () => {
  expect(renderText('everything', { namespace: 'team-b' })).not.toMatch(/switchhook\.svc|namespace: switchhook$/m)
})

describe('A change is rolled out', () => {
  const SERVICES = ['api', 'fanout', 'delivery-worker']
  const before = renderObjects('production')

  test.each([
    ['a setting of all services', 'settings.LOG_LEVEL=warn', 'checksum/settings', SERVICES],
    ['a setting of one service', 'fanout.settings.FANOUT_CONCURRENCY=32', 'checksum/settings', ['fanout']],
    ['an identity provider', 'api.authIssuers[0].tenant=other', 'checksum/settings', ['api']],
    ['a secret, by its revision', 'secrets.revision=2', 'checksum/secrets', [...SERVICES, 'redis']],
    ['the memory of Redis', 'redis.memoryMi=4096', 'checksum/config', ['redis']],
  ])('%s', (_what, override, annotation, names) => {
    const after = renderObjects('production', { overrides: [override] })
    const changed = [...SERVICES, 'redis'].filter(
      (name) => annotationsOf(after, name)[annotation] !== annotationsOf(before, name)[annotation],
    )
    expect(changed).toEqual(names)
  })

  const orderIn = (objects: readonly KubernetesObject[]) =>
    JSON.parse(dataOf(objects).get('ConfigMap rollout')?.['order.json'] ?? '') as {
      readonly versions: Readonly<Record<string, string>>
      readonly waitFor: Readonly<Record<string, readonly string[]>>
    }

  test('in the order fan-out and workers, api; or the reverse to go back', () => {
    expect(orderIn(before).waitFor).toEqual({ api: ['fanout', 'delivery-worker'], fanout: [], 'delivery-worker': [] })
    const back = renderObjects('roll-back')
    expect(orderIn(back).waitFor).toEqual({ api: [], fanout: ['api'], 'delivery-worker': ['api'] })
  })

  test('another order changes no pod, so the upgrade after a roll-back restarts none', () => {
    const back = renderObjects('roll-back')
    for (const name of SERVICES) {
      const pods = [before, back].map((objects) => workloadNamed(objects, name).spec.template)
      expect(pods[1]).toEqual(pods[0])
      expect(podOf(workloadNamed(before, name)).initContainers?.map(({ name }) => name)).toEqual(['wait-for-rollout'])
    }
  })

  test('a pod waits for the version of the same release: its Service and the labels of its pods', () => {
    const overrides = [`fanout.digest=sha256:${'f'.repeat(64)}`]
    const versionOf = (objects: readonly KubernetesObject[], name: string) =>
      workloadNamed(objects, name).spec.template.metadata.labels['switchhook/version']
    const after = renderObjects('production', { overrides })
    expect(versionOf(after, 'fanout')).not.toBe(versionOf(before, 'fanout'))
    expect(versionOf(after, 'delivery-worker')).toBe(versionOf(before, 'delivery-worker'))
    for (const [name, version] of Object.entries(orderIn(after).versions)) {
      expect(version).toBe(versionOf(after, name))
      const [waiting] = podOf(workloadNamed(after, name)).initContainers ?? []
      expect(waiting?.args?.slice(1)).toEqual([name, version])
      for (const service of [`${name}-pods`, `${name}-${version}`])
        expect(objectNamed(after, 'Service', service)['spec']).toMatchObject({
          clusterIP: 'None',
          publishNotReadyAddresses: true,
        })
    }
  })
})

describe('Monitoring', () => {
  const objects = renderObjects('monitoring')

  test('the PrometheusRule has the alerts of docker compose, with runbooks that can be opened', () => {
    const base = 'https://git.example.com/switchhook/blob/v0.1.0/docs/alerts.md'
    const alerts = shipped('helm/switchhook/files/alerts.yml').replaceAll(/(runbook_url: )\S*alerts\.md/g, `$1${base}`)
    expect(objectNamed(objects, 'PrometheusRule', 'switchhook')['spec']).toEqual(parse(alerts))
    expect(alerts.match(/runbook_url: https:/g)?.length).toBeGreaterThan(20)
  })

  test('the dashboard is that of docker compose', () => {
    const files = dataOf(objects).get('ConfigMap switchhook-dashboard')
    expect(files?.['switchhook.json']).toBe(shipped('helm/switchhook/files/dashboard.json'))
  })

  test('RabbitMQ is scraped as by the Prometheus of docker compose', () => {
    const { scrape_configs: jobs } = parse(shipped('monitoring/prometheus.yml')) as {
      scrape_configs: readonly { job_name: string; metrics_path?: string; params?: { family: string[] } }[]
    }
    const queues = jobs.find(({ job_name: name }) => name === 'rabbitmq-queues')
    const { podMetricsEndpoints } = objectNamed(objects, 'PodMonitor', 'rabbitmq')['spec'] as {
      podMetricsEndpoints: object[]
    }
    expect(podMetricsEndpoints[1]).toMatchObject({
      path: queues?.metrics_path,
      params: { family: expect.arrayContaining(queues?.params?.family ?? ['none']) },
      relabelings: [
        { targetLabel: 'job', replacement: 'rabbitmq-queues' },
        { targetLabel: 'cluster', replacement: 'eu-1' },
      ],
    })
  })

  test('monitors and rules have the labels by which Prometheus selects them', () => {
    const found = objects.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com'))
    expect(found.map(({ kind }) => kind).toSorted()).toEqual([
      'PodMonitor',
      'PodMonitor',
      'PrometheusRule',
      'ServiceMonitor',
    ])
    for (const { metadata } of found) expect(metadata.labels).toMatchObject({ release: 'prometheus' })
  })
})

test('of `helm test` only the Job is a hook, and ends by time, because Helm deletes no hook of a release', () => {
  const hooks = renderObjects('everything').filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
  expect(hooks.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([['Job', 'smoke-test']])
  expect(hooks[0]?.metadata.annotations?.['helm.sh/hook-delete-policy']).toBe('before-hook-creation,hook-succeeded')
  expect(hooks[0]?.['spec']).toMatchObject({ ttlSecondsAfterFinished: 3_600 })
})

test('the receiver of the guide passes the Pod Security level `restricted`, and workers may reach it', () => {
  const pod = examplePod('receiver')
  expect(pod.metadata.labels).toMatchObject({ 'switchhook/receiver': 'true' })
  expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  expect(pod.spec.containers[0]).toMatchObject({
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  })
})
