import { readFileSync } from 'node:fs'
import { type Combination, exampleFile, type Labels, parseObjects, renderObjects, renderText } from '@switchhook/chart'
import {
  dueQueues,
  eventQueues,
  laneQueues,
  MAX_PACKET_MEMBERS,
  packetQueues,
  Queue,
  waitQueues,
} from '@switchhook/messaging'
import { readCompose } from './compose.ts'
import {
  containerOf,
  dataOf,
  examplePod,
  objectNamed,
  podOf,
  shipped,
  type Workload,
  workloadNamed,
} from './workloads.ts'

const withoutComments = (config: string): string[] => config.split('\n').filter((line) => /^[^#%\s]/.test(line))

describe('Redis', () => {
  const mebibytesOf = (text: string): number => {
    const [, number = '', unit = ''] = /^(\d+)(mb|Mi|Gi)$/.exec(text) ?? []
    return Number(number) * (unit === 'Gi' ? 1_024 : 1)
  }

  test.each([
    ['production', []],
    ['development', []],
    ['production', ['redis.memoryMi=16384', 'redis.storageGi=64']],
  ] as const)('maxmemory is below the limit, and the volume has room for rewrites', (combination, overrides) => {
    const objects = renderObjects(combination, { overrides })
    const redis = workloadNamed(objects, 'redis')
    const files = dataOf(objects).get('ConfigMap redis-config') ?? {}
    const maxmemoryMi = mebibytesOf(/^maxmemory (\S+)$/m.exec(files['start.sh'] ?? '')?.[1] ?? '')
    const limitMi = mebibytesOf(containerOf(redis).resources.limits.memory)
    expect(maxmemoryMi / limitMi).toBeCloseTo(0.75)
    const [claim] = redis.spec.volumeClaimTemplates ?? []
    expect(mebibytesOf(claim?.spec.resources.requests.storage ?? '')).toBeGreaterThanOrEqual(4 * maxmemoryMi)
    expect(files['redis.conf']).toBe(shipped('helm/switchhook/files/redis.conf'))
  })

  test('no probe limits how long it reads its append-only file: the port is open meanwhile', () => {
    const { startupProbe, livenessProbe } = containerOf(workloadNamed(renderObjects('production'), 'redis'))
    expect(startupProbe).toBeUndefined()
    expect(livenessProbe).toMatchObject({ tcpSocket: { port: 'redis' } })
  })

  test('its claim has its kind, which the API server adds otherwise: Argo CD would see a difference for ever', () => {
    for (const name of ['redis', 'rabbitmq'])
      expect(workloadNamed(renderObjects('development'), name).spec.volumeClaimTemplates).toMatchObject([
        { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      ])
  })

  test('the password is in no argument', () => {
    const { command, args = [], env } = containerOf(workloadNamed(renderObjects('production'), 'redis'))
    expect([...(command ?? []), ...args].join(' ')).not.toMatch(/requirepass|AUTH|PASSWORD/)
    const urls = renderText('production').match(/value: (amqps?|rediss?):.*/g) ?? []
    expect(urls.filter((url) => url.includes('@'))).toEqual([])
    expect(env).toContainEqual({
      name: 'REDISCLI_AUTH',
      valueFrom: { secretKeyRef: { name: 'redis', key: 'password' } },
    })
  })

  test('the exporter runs next to it and is scraped', () => {
    const objects = renderObjects('monitoring')
    const { containers } = podOf(workloadNamed(objects, 'redis'))
    expect(containers.map(({ name }) => name)).toEqual(['redis', 'exporter'])
    expect(objectNamed(objects, 'ServiceMonitor', 'redis')['spec']).toMatchObject({ endpoints: [{ port: 'metrics' }] })
  })

  test('a Prometheus that discovers pods by annotation finds the exporter, if it runs', () => {
    const scraped = (...overrides: readonly string[]) =>
      workloadNamed(renderObjects('production', { overrides }), 'redis').spec.template.metadata.annotations
    expect(scraped()).toMatchObject({ 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9121' })
    expect(scraped('redis.exporter.enabled=false')).not.toHaveProperty(['prometheus.io/scrape'])
    expect(scraped('monitoring.podMonitors=true')).not.toHaveProperty(['prometheus.io/scrape'])
  })

  test('it has a priority of its own, unless the values name another', () => {
    const priority = (...overrides: readonly string[]) => {
      const objects = renderObjects('production', { namespace: 'calls', overrides })
      const classes = objects.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name)
      return [
        podOf(workloadNamed(objects, 'redis')).priorityClassName,
        podOf(workloadNamed(objects, 'api')).priorityClassName,
        classes,
      ]
    }
    expect(priority()).toEqual(['calls-redis', undefined, ['calls-redis']])
    expect(priority('redis.priorityClassName=high')).toEqual(['high', undefined, []])
    expect(priority('pods.priorityClassName=all')).toEqual(['all', 'all', []])
  })

  test('the exporter is that of docker compose', () => {
    const [, exporter] = podOf(workloadNamed(renderObjects('production'), 'redis')).containers
    expect(exporter?.image).toBe(readCompose().services['redis-exporter']?.image)
  })

  test('the services are told how its durability is known', () => {
    const variable = (combination: Combination) =>
      containerOf(workloadNamed(renderObjects(combination), 'api')).env?.find(({ name }) => name === 'REDIS_DURABILITY')
    expect(variable('production')).toBeUndefined()
    expect(variable('external')?.value).toBe('attested')
  })
})

describe('RabbitMQ', () => {
  const cluster = (combination: Combination, overrides: readonly string[] = []) =>
    objectNamed(renderObjects(combination, { overrides }), 'RabbitmqCluster', 'rabbitmq')['spec'] as {
      replicas: number
      rabbitmq: Labels
    }

  test('every installation has the configuration of docker compose, and the operator keeps its disk limit', () => {
    const lines = withoutComments(shipped('helm/switchhook/files/rabbitmq.conf')).filter(
      (line) => !line.startsWith('disk_free_limit'),
    )
    const { additionalConfig = '', advancedConfig = '' } = cluster('production').rabbitmq
    expect(withoutComments(additionalConfig)).toEqual(expect.arrayContaining(lines))
    expect(additionalConfig).not.toContain('disk_free_limit')
    expect(advancedConfig).toContain('{dead_letter_worker_publisher_confirm_timeout, 10000}')
    expect(dataOf(renderObjects('development')).get('ConfigMap rabbitmq-config')).toEqual({
      '20-switchhook.conf': shipped('helm/switchhook/files/rabbitmq.conf'),
      'advanced.config': shipped('helm/switchhook/files/advanced.config'),
    })
  })

  test('in a cluster with IPv6 addresses only, everything of RabbitMQ listens and connects by IPv6', () => {
    const { additionalConfig, envConfig, erlangInetConfig } = cluster('ipv6').rabbitmq
    const listeners = ['management.tcp.ip = ::', 'prometheus.tcp.ip = ::']
    expect(withoutComments(additionalConfig ?? '')).toEqual(expect.arrayContaining(listeners))
    expect(envConfig?.match(/-proto_dist inet6_tcp/g)).toHaveLength(2)
    expect(erlangInetConfig).toBe('{inet6, true}.\n')
    const single = dataOf(renderObjects('development', { overrides: ['rabbitmq.ipv6=true'] }))
    expect(withoutComments(String(single.get('ConfigMap rabbitmq-config')?.['20-switchhook.conf']))).toEqual(
      expect.arrayContaining(listeners),
    )
    expect(cluster('production').rabbitmq).not.toHaveProperty('envConfig')
  })

  test.each([1, 3, 5])(
    'nodes of a cluster of %d have the same configuration, so another number restarts none',
    (nodes) => {
      const { replicas, rabbitmq } = cluster('production', [`rabbitmq.replicas=${nodes}`])
      expect(replicas).toBe(nodes)
      const growth = withoutComments(shipped('helm/switchhook/files/members.conf'))
      expect(growth).toContain('quorum_queue.continuous_membership_reconciliation.target_group_size = 3')
      expect(withoutComments(rabbitmq['additionalConfig'] ?? '')).toEqual(expect.arrayContaining(growth))
      expect(rabbitmq).toEqual(cluster('production').rabbitmq)
    },
  )
})

describe('KEDA', () => {
  const loginOf = (secret: string) => ['username', 'password'].map((key) => ({ parameter: key, name: secret, key }))
  type Trigger = { metadata: Record<string, string>; authenticationRef: { name: string } }
  const triggersOf = (combination: Combination, namespace = 'switchhook') =>
    (
      objectNamed(renderObjects(combination, { namespace }), 'ScaledObject', 'delivery-worker')['spec'] as {
        triggers: [messages: Trigger, packets: Trigger]
      }
    ).triggers
  const triggerOf = (combination: Combination, namespace?: string) => triggersOf(combination, namespace)[0]

  test('counts due deliveries of every shard, lanes and the backlog, and packets, with those that workers hold', () => {
    const singles = [...dueQueues(4), ...laneQueues(8), Queue.yielding]
    const packets = [...packetQueues(4), Queue.yieldingPackets]
    const others = [...waitQueues(10_000, 2), Queue.quarantine, ...eventQueues(2), Queue.receiverChecks]
    const triggers = triggersOf('production')
    const countedBy = ({ metadata }: Trigger) =>
      [...singles, ...packets, ...others].filter((queue) => new RegExp(metadata['queueName'] ?? '').test(queue))
    expect(triggers.map(countedBy)).toEqual([singles, packets])
    for (const { metadata } of triggers) {
      expect(metadata).toMatchObject({
        protocol: 'http',
        useRegex: 'true',
        operation: 'sum',
        excludeUnacknowledged: 'false',
        mode: 'QueueLength',
      })
    }
    const [messages = 0, held] = triggers.map(({ metadata }) => Number(metadata['value']))
    expect(held).toBe(messages / MAX_PACKET_MEMBERS)
  })

  test('asks RabbitMQ in the namespace of the release, with TLS if RabbitMQ has it', () => {
    expect(triggerOf('production', 'team-b').metadata['host']).toBe('http://rabbitmq.team-b.svc:15672/')
    expect(triggerOf('tls', 'team-b').metadata['host']).toBe('https://rabbitmq.team-b.svc:15671/')
  })

  // KEDA takes the virtual host from the path of the URL, and vhostName before it.
  test('reads the virtual host that the URL of an external RabbitMQ names', () => {
    const overrides = ['deliveryWorker.autoscaling.managementUrl=https://rabbitmq.example.internal:15671/team-b']
    const { triggers } = objectNamed(renderObjects('external', { overrides }), 'ScaledObject', 'delivery-worker')[
      'spec'
    ] as { triggers: Trigger[] }
    expect(triggers.map(({ metadata }) => [metadata['host'], metadata['vhostName']])).toEqual([
      ['https://rabbitmq.example.internal:15671/team-b', undefined],
      ['https://rabbitmq.example.internal:15671/team-b', undefined],
    ])
  })

  test.each<[string, Combination, readonly string[], readonly object[]]>([
    ['the user that the operator creates', 'production', ['rabbitmq.usersSecret='], loginOf('rabbitmq-default-user')],
    [
      'its own user, whose name is in no Secret of the installation',
      'production',
      [],
      [
        { parameter: 'username', name: 'rabbitmq-monitor', key: 'username' },
        { parameter: 'password', name: 'rabbitmq-users', key: 'monitor' },
      ],
    ],
    [
      'the user in the Secret of an external RabbitMQ',
      'external',
      ['rabbitmq.external.urlSecret=broker', 'rabbitmq.tls.caSecret=private-ca'],
      [...loginOf('broker'), { parameter: 'ca', name: 'private-ca', key: 'ca.crt' }],
    ],
  ])('signs in as %s', (_who, combination, overrides, secretTargetRef) => {
    const objects = renderObjects(combination, { overrides })
    const authentication = objectNamed(objects, 'TriggerAuthentication', triggerOf(combination).authenticationRef.name)
    expect(authentication['spec']).toEqual({ secretTargetRef })
  })
})

describe('TLS', () => {
  const objects = renderObjects('tls')

  test('the services check RabbitMQ and Redis against the mounted authorities', () => {
    for (const name of ['api', 'fanout', 'delivery-worker']) {
      const service = workloadNamed(objects, name)
      const { env = [], volumeMounts = [] } = containerOf(service)
      for (const [variable, secret] of [
        ['AMQP_CA_FILE', 'rabbitmq-tls'],
        ['REDIS_CA_FILE', 'redis-tls'],
      ] as const) {
        const file = env.find((one) => one.name === variable)?.value ?? ''
        const mount = volumeMounts.find(({ mountPath }) => file === `${mountPath}/ca.crt`)
        const volume = podOf(service).volumes?.find((one) => one.name === mount?.name)
        expect(volume?.secret).toEqual({ secretName: secret, items: [{ key: 'ca.crt', path: 'ca.crt' }] })
      }
      expect(env.find((one) => one.name === 'AMQP_URL')?.value).toMatch(/^(amqps:[^,]+:5671,?){3}$/)
      expect(env.find((one) => one.name === 'REDIS_URL')?.value).toMatch(/^rediss:/)
    }
  })

  test('RabbitMQ and Redis have their certificates, and Redis has no other port', () => {
    expect(objectNamed(objects, 'RabbitmqCluster', 'rabbitmq')['spec']).toMatchObject({
      tls: { secretName: 'rabbitmq-tls' },
    })
    const start = dataOf(objects).get('ConfigMap redis-config')?.['start.sh']?.split('\n')
    expect(start).toEqual(expect.arrayContaining(['port 0', 'tls-port 6379', 'tls-cert-file /etc/redis-tls/tls.crt']))
  })

  test('the example certificates name every host that the services connect to', () => {
    const names = parseObjects(readFileSync(exampleFile('certificates'), 'utf8')).flatMap(
      ({ spec }) => (spec as { dnsNames: string[] }).dnsNames,
    )
    const isNamed = (host: string) =>
      names.some((name) => name === host || (name.startsWith('*.') && name.slice(2) === host.replace(/^[^.]+\./, '')))
    const urls = renderText('tls').match(/(?:amqps|rediss|https):\/\/[^\s,"]+/g) ?? []
    const hosts = urls.map((url) => new URL(url.replaceAll(/\$\(\w+\)/g, 'x')).hostname)
    expect(hosts.filter((host) => host !== 'localhost' && host.endsWith('.svc') && !isNamed(host))).toEqual([])
    expect(hosts.length).toBeGreaterThan(10)
  })
})

test.each(['backup', 'everything'] as const)(
  '%s runs the scripts of infra as a job that passes `restricted`',
  (combination) => {
    const objects = renderObjects(combination)
    expect(dataOf(objects).get('ConfigMap backup')).toEqual({
      'backup.sh': shipped('helm/switchhook/files/backup.sh'),
      'restore.sh': shipped('helm/switchhook/files/restore.sh'),
      'backup-definitions.mjs': shipped('helm/switchhook/files/backup-definitions.mjs'),
    })
    const { jobTemplate, concurrencyPolicy } = objectNamed(objects, 'CronJob', 'backup')['spec'] as {
      concurrencyPolicy: string
      jobTemplate: { spec: Workload['spec'] }
    }
    expect(concurrencyPolicy).toBe('Forbid')
    const pod = jobTemplate.spec.template.spec
    expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
    for (const { securityContext, volumeMounts = [], env } of pod.containers) {
      expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(expect.arrayContaining(['/backups', '/scripts']))
      expect(env).toContainEqual({ name: 'BACKUP_DIR', value: '/backups' })
    }
  },
)

test('the pod that restores a copy has the volumes and scripts of the scheduled job and of Redis', () => {
  const objects = renderObjects('backup')
  const { volumes = [], containers, securityContext } = examplePod('restore').spec
  expect(
    volumes.map(({ configMap, persistentVolumeClaim }) => configMap?.name ?? persistentVolumeClaim?.claimName),
  ).toEqual(['data-redis-0', objectNamed(objects, 'PersistentVolumeClaim', 'backups').metadata.name, 'backup'])
  expect(dataOf(objects).get('ConfigMap backup')).toHaveProperty(['restore.sh'])
  const redis = workloadNamed(objects, 'redis')
  const { runAsUser, fsGroup } = podOf(redis).securityContext as Readonly<Record<string, number>>
  expect(containers[0].image).toBe(containerOf(redis).image)
  expect(securityContext).toMatchObject({ runAsUser, fsGroup, runAsNonRoot: true })
})
