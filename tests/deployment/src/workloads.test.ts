import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import {
  COMBINATIONS,
  type Combination,
  exampleFile,
  type KubernetesObject,
  parseObjects,
  renderObjects,
} from '@switchhook/chart'
import { IMAGES, settingsOf } from './services.ts'
import {
  allContainers,
  containerOf,
  dataOf,
  environmentOf,
  isWorkload,
  matches,
  type PodSpec,
  podOf,
  type Workload,
} from './workloads.ts'

/** The example has only placeholders, so that no installation has secrets that are public. */
const FILLED_IN = readFileSync(exampleFile('secrets'), 'utf8')
  .replace('first:CHANGE-ME', `first:${randomBytes(32).toString('base64')}`)
  .replaceAll('CHANGE-ME', 'a password')
/** Secrets that are not in the chart: the installation provides them, or the RabbitMQ operator creates them. */
const PROVIDED: readonly KubernetesObject[] = [
  ...parseObjects(FILLED_IN),
  ...parseObjects(
    `
    {apiVersion: v1, kind: Secret, metadata: {name: rabbitmq-default-user}, stringData: {username: user, password: pw}}
    ---
    {apiVersion: v1, kind: Secret, metadata: {name: rabbitmq}, stringData: {url: 'amqps://u:p@mq-1,amqps://u:p@mq-2', username: u, password: p}}
    `.replaceAll(/^ +/gm, ''),
  ),
]
/** What the services of `external` connect to. */
const PROVIDED_OUTSIDE = parseObjects(
  "{apiVersion: v1, kind: Secret, metadata: {name: redis}, stringData: {url: 'rediss://:secret@redis.example.internal:6379'}}",
)

/** Services read the files at their start, so those of the pod are replaced by ones that exist here. */
const folder = mkdtempSync(join(tmpdir(), 'switchhook-chart-'))
const FILES = { _CA_FILE: rootCertificates[0] ?? '', _PASSWORD_FILE: 'a password' }
beforeAll(() => {
  for (const [suffix, content] of Object.entries(FILES)) writeFileSync(join(folder, suffix), content)
})
afterAll(() => rmSync(folder, { recursive: true }))

const withFiles = (environment: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      const suffix = Object.keys(FILES).find((one) => name.endsWith(one))
      return [name, suffix === undefined ? value : join(folder, suffix)]
    }),
  )

const combinations = Object.keys(COMBINATIONS) as Combination[]
const NAMESPACE = 'contact-center'

test.each(['api', 'fanout', 'delivery-worker'])(
  '%s refuses the public secrets of development in production',
  (name) => {
    const objects = renderObjects('development', { namespace: NAMESPACE })
    const service = objects.filter(isWorkload).find(({ metadata }) => metadata.name === name) as Workload
    const given = environmentOf(service, dataOf(objects))
    const load = () => settingsOf(name).load({ ...given, NODE_ENV: 'production' })
    expect(load).toThrow('AMQP_PASSWORD has a password that is public')
    expect(load).toThrow('REDIS_PASSWORD has a password that is public')
    if (name !== 'fanout') expect(load).toThrow('SECRET_KEYS: the key development can be guessed')
  },
)

describe.each(combinations)('%s', (combination) => {
  const objects = renderObjects(combination, { namespace: NAMESPACE })
  const isDevelopment = combination === 'development'
  const workloads = objects.filter(isWorkload)
  const services = workloads.filter(({ kind }) => kind === 'Deployment')
  const data = dataOf([
    ...(isDevelopment ? [] : PROVIDED),
    ...(combination === 'external' ? PROVIDED_OUTSIDE : []),
    ...objects,
  ])
  const settings = (service: Workload) =>
    settingsOf(service.metadata.name).load(withFiles(environmentOf(service, data)))
  const pods = [
    ...workloads.map(podOf),
    ...objects.filter(({ kind }) => kind === 'Pod').map(({ spec }) => spec as PodSpec),
    ...objects.filter(({ kind }) => kind === 'Job').map(({ spec }) => (spec as Workload['spec']).template.spec),
  ]
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind)
  const podLabels = (object: KubernetesObject) => (isWorkload(object) ? [object.spec.template.metadata.labels] : [])

  test('runs the services, and the identity provider in development only', () => {
    expect(services.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      IMAGES.filter((name) => isDevelopment || name !== 'dev-idp').toSorted(),
    )
  })

  test('puts every object into the namespace of the release', () => {
    // A priority class belongs to no namespace.
    for (const { kind, metadata } of objects.filter((object) => object.kind !== 'PriorityClass'))
      expect([kind, metadata.namespace]).toEqual([kind, NAMESPACE])
  })

  test('gives services only variables that they know, and values that they accept', () => {
    for (const service of services) {
      const names = Object.keys(environmentOf(service, data))
      expect(settingsOf(service.metadata.name).variables).toEqual(expect.arrayContaining(names))
      expect(settings(service)['NODE_ENV']).toBe(isDevelopment ? 'development' : 'production')
    }
  })

  test('points AMQP_URL and REDIS_URL at Services and ports of the namespace', () => {
    const ports = new Map(
      ofKind('Service').map((object) => {
        const { ports } = object['spec'] as { readonly ports: readonly { readonly port: number }[] }
        return [`${object.metadata.name}.${NAMESPACE}.svc`, ports.map(({ port }) => port)]
      }),
    )
    // The operator creates a headless Service, which gives each node a name of its own.
    for (const { metadata, spec } of objects.filter(isBrokerCluster)) {
      for (let node = 0; node < spec.replicas; node += 1)
        ports.set(`${metadata.name}-server-${node}.${metadata.name}-nodes.${NAMESPACE}.svc`, [spec.tls ? 5671 : 5672])
    }
    for (const service of services.filter(({ metadata }) => metadata.name !== 'dev-idp')) {
      const { AMQP_URL = '', REDIS_URL = '' } = environmentOf(service, data)
      if (combination === 'external') continue
      for (const url of [...AMQP_URL.split(','), REDIS_URL]) {
        const { hostname, port } = new URL(url)
        expect([hostname, ports.get(hostname)]).toEqual([hostname, expect.arrayContaining([Number(port)])])
      }
      // A connection that is lost moves to another node.
      expect(AMQP_URL.split(',')).toHaveLength(isDevelopment ? 1 : 3)
    }
  })

  test('mounts every file that a variable names, from a key of a Secret', () => {
    for (const service of services) {
      const { volumeMounts = [] } = containerOf(service)
      const mounted = volumeMounts.flatMap(({ name, mountPath }) =>
        (podOf(service).volumes?.find((volume) => volume.name === name)?.secret?.items ?? []).map(
          ({ key }) => `${mountPath}/${key}`,
        ),
      )
      const named = Object.entries(environmentOf(service, data)).filter(([name]) => name.endsWith('_FILE'))
      expect(mounted.toSorted()).toEqual(named.map(([, path]) => path).toSorted())
    }
  })

  test('gives each pod more time to stop than its service needs', () => {
    for (const service of services) {
      const preStopMs = 1_000 * (containerOf(service).lifecycle?.preStop.sleep.seconds ?? 0)
      const graceMs = Number(settings(service)['SHUTDOWN_GRACE'])
      expect(podOf(service).terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(preStopMs + graceMs + 5_000)
    }
  })

  test('probes liveness and readiness on the health port', () => {
    for (const service of services) {
      const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(service)
      expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet)).toEqual([
        { path: '/healthz', port: 'health' },
        { path: '/healthz', port: 'health' },
        { path: '/readyz', port: 'health' },
      ])
      expect(ports).toContainEqual({ name: 'health', containerPort: settings(service)['HEALTH_PORT'] })
    }
  })

  test('is scraped once: by annotation, or by the Prometheus Operator', () => {
    const monitored = objects.some(({ kind }) => kind === 'PodMonitor')
    for (const service of services.filter(({ metadata }) => metadata.name !== 'dev-idp'))
      expect('prometheus.io/scrape' in (service.spec.template.metadata.annotations ?? {})).toBe(!monitored)
  })

  test('names the ports on which the services listen', () => {
    const listens = { api: 'API_PORT', 'dev-idp': 'DEV_IDP_PORT' } as Readonly<Record<string, string>>
    for (const service of services) {
      const variable = listens[service.metadata.name]
      const http = containerOf(service).ports?.find(({ name }) => name === 'http')
      expect(http?.containerPort).toBe(variable && settings(service)[variable])
    }
  })

  test('gives no pod more rights than the Pod Security level restricted allows', () => {
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const { name, securityContext } of allContainers(pod)) {
        expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
        if (name !== 'rabbitmq') expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true })
      }
    }
    for (const service of services) expect(podOf(service).securityContext).toMatchObject({ runAsUser: 1000 })
  })

  test('sets resource requests and a memory limit for every container', () => {
    for (const { resources } of pods.flatMap(allContainers)) {
      expect(resources).toMatchObject({
        requests: { cpu: expect.anything(), memory: expect.anything() },
        limits: { memory: expect.anything() },
      })
    }
  })

  test('selects the intended pods with every selector', () => {
    for (const { metadata, spec } of workloads) {
      // The network policies select pods by this label.
      expect(spec.template.metadata.labels['app.kubernetes.io/name']).toBe(metadata.name)
      expect(matches(spec.selector.matchLabels, spec.template.metadata.labels)).toBe(true)
      for (const { labelSelector } of spec.template.spec.topologySpreadConstraints ?? []) {
        expect(matches(labelSelector.matchLabels, spec.template.metadata.labels)).toBe(true)
      }
    }
    for (const object of [...ofKind('Service'), ...ofKind('PodDisruptionBudget')]) {
      const { selector } = object['spec'] as {
        readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> }
      }
      const labels = (selector.matchLabels ?? selector) as Readonly<Record<string, string>>
      const selected = workloads.filter((workload) => podLabels(workload).some((pod) => matches(labels, pod)))
      const name = object.metadata.name.replace(/-(pods|[0-9a-f]{10})$/, '')
      // The operator creates the pods of the broker.
      const expected = name === 'rabbitmq' && !isDevelopment ? [] : [name]
      expect(selected.map(({ metadata }) => metadata.name)).toEqual(expected)
    }
  })

  test('targets existing pod ports with every Service', () => {
    for (const object of ofKind('Service')) {
      const { ports, selector } = object['spec'] as {
        readonly ports: readonly { readonly targetPort: string }[]
        readonly selector: Readonly<Record<string, string>>
      }
      const workload = workloads.find(({ metadata }) => selector['app.kubernetes.io/name'] === metadata.name)
      const named = workload && podOf(workload).containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))
      for (const { targetPort } of ports) expect(named).toContain(targetPort)
    }
  })

  test('refers only to existing accounts, volumes and ConfigMaps', () => {
    const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name)
    for (const workload of workloads) {
      const { serviceAccountName, volumes = [] } = podOf(workload)
      if (serviceAccountName !== undefined) expect(names('ServiceAccount')).toContain(serviceAccountName)
      for (const { configMap } of volumes) if (configMap) expect(names('ConfigMap')).toContain(configMap.name)
      const claims = workload.spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []
      const known = [...volumes.map(({ name }) => name), ...claims]
      for (const { volumeMounts = [] } of allContainers(podOf(workload)))
        for (const { name } of volumeMounts) expect(known).toContain(name)
    }
  })

  test('autoscales existing Deployments that set no replica count', () => {
    const scaled = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map((object) => {
      const { scaleTargetRef } = object['spec'] as { readonly scaleTargetRef: { readonly name: string } }
      return services.find(({ metadata }) => metadata.name === scaleTargetRef.name)
    })
    expect(scaled.map((service) => service?.metadata.name ?? 'nobody').toSorted()).toEqual(
      isDevelopment ? [] : ['api', 'delivery-worker'],
    )
    for (const service of scaled) expect(service?.spec.replicas).toBeUndefined()
  })
})

interface BrokerCluster extends KubernetesObject {
  readonly spec: { readonly replicas: number; readonly tls?: object }
}

function isBrokerCluster(object: KubernetesObject): object is BrokerCluster {
  return object.kind === 'RabbitmqCluster'
}
