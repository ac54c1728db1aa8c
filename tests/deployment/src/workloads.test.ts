import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type KubernetesObject,
  OVERLAYS,
  overlayFolder,
  parseObjects,
  readOverlay,
  repository,
} from '@switchhook/manifests'
import { Queue } from '@switchhook/messaging'
import { IMAGES, settingsOf } from './services.ts'
import {
  containerOf,
  dataOf,
  environmentOf,
  isWorkload,
  matches,
  podOf,
  usedWithin,
  type Workload,
} from './workloads.ts'

const EXAMPLE = readFileSync(join(overlayFolder('production'), 'secrets.example.yaml'), 'utf8')
/** The example has no valid key, so that no installation encrypts secrets with a public one. */
const WITH_A_KEY = EXAMPLE.replace('first:CHANGE-ME', `first:${Buffer.alloc(32).toString('base64')}`)
/** Secrets that are not in the overlay: the installation provides them, or the RabbitMQ operator creates them. */
const PROVIDED: readonly KubernetesObject[] = [
  ...parseObjects(WITH_A_KEY),
  ...parseObjects(
    '{apiVersion: v1, kind: Secret, metadata: {name: rabbitmq-default-user}, stringData: {username: user, password: pw}}',
  ),
]

describe.each(OVERLAYS)('%s', (overlay) => {
  const objects = readOverlay(overlay)
  const workloads = objects.filter(isWorkload)
  const services = workloads.filter(({ kind }) => kind === 'Deployment')
  const data = dataOf([...(overlay === 'development' ? [] : PROVIDED), ...objects])
  const settings = (service: Workload) => settingsOf(service.metadata.name).load(environmentOf(service, data))
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind)
  const podLabels = (object: KubernetesObject) => (isWorkload(object) ? [object.spec.template.metadata.labels] : [])

  test('runs the services, and the identity provider in development only', () => {
    expect(services.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      IMAGES.filter((name) => overlay === 'development' || name !== 'dev-idp').toSorted(),
    )
  })

  test('puts every object into one namespace', () => {
    for (const { kind, metadata } of objects) expect(metadata.namespace ?? kind).toMatch(/^(switchhook|Namespace)$/)
  })

  test('gives services only variables that they know, and values that they accept', () => {
    for (const service of services) {
      const inner = usedWithin(containerOf(service))
      const names = Object.keys(environmentOf(service, data)).filter((name) => !inner.includes(name))
      expect(settingsOf(service.metadata.name).variables).toEqual(expect.arrayContaining(names))
      expect(settings(service)['NODE_ENV']).toBe(overlay === 'development' ? 'development' : 'production')
    }
  })

  test('points AMQP_URL and REDIS_URL at existing Services and ports', () => {
    const serves = new Map(
      ofKind('Service').map((object) => {
        const { ports } = object['spec'] as { readonly ports: readonly { readonly port: number }[] }
        return [object.metadata.name, ports.map(({ port }) => port)]
      }),
    )
    // The operator creates the Service of the broker.
    for (const { metadata } of ofKind('RabbitmqCluster')) serves.set(metadata.name, [5672])
    for (const service of services.filter(({ metadata }) => metadata.name !== 'dev-idp')) {
      const { AMQP_URL, REDIS_URL } = environmentOf(service, data)
      for (const url of [AMQP_URL, REDIS_URL]) {
        const { hostname, port } = new URL(url ?? '')
        expect(serves.get(hostname)).toContain(Number(port))
      }
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

  test('names the ports on which the services listen', () => {
    const listens = { api: 'API_PORT', 'dev-idp': 'DEV_IDP_PORT' } as Readonly<Record<string, string>>
    for (const service of services) {
      const variable = listens[service.metadata.name]
      const http = containerOf(service).ports?.find(({ name }) => name === 'http')
      expect(http?.containerPort).toBe(variable && settings(service)[variable])
    }
  })

  test('gives no pod more rights than it needs', () => {
    for (const workload of workloads) {
      const { containers, ...pod } = podOf(workload)
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const { securityContext } of containers) {
        expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
      }
    }
    for (const service of services) {
      expect(podOf(service).securityContext).toMatchObject({ runAsUser: 1000 })
      expect(containerOf(service).securityContext).toMatchObject({ readOnlyRootFilesystem: true })
    }
  })

  test('sets resource requests and a memory limit for every container', () => {
    for (const workload of workloads) {
      expect(containerOf(workload).resources).toMatchObject({
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
      expect(selected.map(({ metadata }) => metadata.name)).toEqual([object.metadata.name])
    }
  })

  test('targets existing pod ports with every Service', () => {
    for (const object of ofKind('Service')) {
      const { ports } = object['spec'] as { readonly ports: readonly { readonly targetPort: string }[] }
      const pod = workloads.find(({ metadata }) => metadata.name === object.metadata.name)
      const named = pod === undefined ? [] : containerOf(pod).ports?.map(({ name }) => name)
      for (const { targetPort } of ports) expect(named).toContain(targetPort)
    }
  })

  test('refers only to existing accounts, volumes and ConfigMaps', () => {
    const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name)
    for (const workload of workloads) {
      const { serviceAccountName, volumes = [], containers } = podOf(workload)
      if (serviceAccountName !== undefined) expect(names('ServiceAccount')).toContain(serviceAccountName)
      for (const { configMap } of volumes) if (configMap) expect(names('ConfigMap')).toContain(configMap.name)
      const claims = workload.spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []
      const known = [...volumes.map(({ name }) => name), ...claims]
      for (const { volumeMounts = [] } of containers) for (const { name } of volumeMounts) expect(known).toContain(name)
    }
  })

  test('autoscales existing Deployments that set no replica count', () => {
    const scaled = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map((object) => {
      const { scaleTargetRef } = object['spec'] as { readonly scaleTargetRef: { readonly name: string } }
      return services.find(({ metadata }) => metadata.name === scaleTargetRef.name)
    })
    expect(scaled.map((service) => service?.metadata.name ?? 'nobody').toSorted()).toEqual(
      overlay === 'development' ? [] : ['api', 'delivery-worker'],
    )
    for (const service of scaled) expect(service?.spec.replicas).toBeUndefined()
  })

  test('scales workers by the queue that they consume', () => {
    for (const object of ofKind('ScaledObject')) {
      const [trigger] = (
        object['spec'] as { triggers: [{ metadata: Record<string, string>; authenticationRef: { name: string } }] }
      ).triggers
      expect(trigger.metadata['queueName']).toBe(Queue.deliveryDue)
      expect(trigger.metadata['host']).toBe(`amqp://rabbitmq.${object.metadata.namespace}.svc:5672/`)
      const [authentication] = ofKind('TriggerAuthentication')
      expect(trigger.authenticationRef.name).toBe(authentication?.metadata.name)
      const { secretTargetRef } = (authentication?.['spec'] ?? {}) as {
        secretTargetRef: readonly { name: string; key: string }[]
      }
      for (const { name, key } of secretTargetRef) expect(data.get(`Secret ${name}`)).toHaveProperty(key)
    }
    expect(ofKind('ScaledObject')).toHaveLength(overlay === 'production' ? 1 : 0)
  })
})

test('RabbitMQ and Redis run with the configuration of infra, which the benchmarks use', () => {
  const shipped = (path: string): string => readFileSync(join(repository, 'infra', path), 'utf8')
  const development = readOverlay('development')
  const held = [...dataOf(development).entries()].filter(([name]) => name.startsWith('ConfigMap r'))
  expect(held.map(([, files]) => Object.values(files))).toEqual([
    [shipped('rabbitmq/rabbitmq.conf')],
    [shipped('redis/redis.conf')],
  ])
  const cluster = readOverlay('production').find(({ kind }) => kind === 'RabbitmqCluster')
  expect(cluster).toMatchObject({
    spec: { replicas: 3, rabbitmq: { additionalConfig: shipped('rabbitmq/rabbitmq.conf') } },
  })
})

test('every Redis has a memory limit well below that of its container', () => {
  const bytesOf = (text: string | undefined): number => {
    const [, number = '', unit = ''] = /^(\d+)(gb|mb|Gi|Mi)$/.exec(text ?? '') ?? []
    return Number(number) * 2 ** (unit.startsWith('g') || unit.startsWith('G') ? 30 : 20)
  }
  const config = readFileSync(join(repository, 'infra/redis/redis.conf'), 'utf8')
  const limit = bytesOf(/^maxmemory (\S+)$/m.exec(config)?.[1])
  expect(limit).toBeGreaterThan(0)
  for (const overlay of OVERLAYS) {
    const objects = readOverlay(overlay)
    for (const redis of objects.filter(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'redis')) {
      const [container] = (redis as unknown as RedisSet).spec.template.spec.containers
      expect(limit).toBeLessThanOrEqual(0.8 * bytesOf(container?.resources.limits.memory))
      const held = [...dataOf(objects).entries()].filter(([name]) => name.startsWith('ConfigMap redis'))
      expect(held.map(([, files]) => Object.values(files))).toEqual([[config]])
    }
  }
})

interface RedisSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly resources: { readonly limits: { readonly memory: string } } }[]
      }
    }
  }
}
