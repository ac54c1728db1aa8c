import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Combination, type KubernetesObject, parseObjects, renderObjects, repository } from '@switchhook/chart'
import { BROKER_USERS } from '@switchhook/messaging'
import { containerOf, dataOf, environmentOf, isWorkload, type PodSpec } from './workloads.ts'

const SERVICES = ['api', 'fanout', 'delivery-worker']
/** The Secrets that the installation provides. */
const secrets = dataOf([
  ...parseObjects(readFileSync(join(repository, 'infra/helm/examples/secrets.yaml'), 'utf8')),
  ...parseObjects(
    "{apiVersion: v1, kind: Secret, metadata: {name: rabbitmq-default-user}, stringData: {username: admin, password: 'p'}}",
  ),
])
const workloads = (objects: readonly KubernetesObject[]) =>
  objects.filter(isWorkload).filter(({ metadata }) => SERVICES.includes(metadata.name))
const loginsOf = (objects: readonly KubernetesObject[]) =>
  Object.fromEntries(
    workloads(objects).map((service) => {
      const { AMQP_USERNAME, AMQP_DECLARE } = environmentOf(service, new Map([...secrets, ...dataOf(objects)]))
      return [service.metadata.name, [AMQP_USERNAME, AMQP_DECLARE]] as const
    }),
  )
const jobsOf = (objects: readonly KubernetesObject[]) =>
  objects.filter(({ kind, metadata }) => kind === 'Job' && metadata.name.startsWith('rabbitmq-users'))

test.each<Combination>(['development', 'production', 'everything'])(
  '%s gives each service a user, and a Job creates the users of the table with passwords from the Secret',
  (combination) => {
    const objects = renderObjects(combination)
    expect(loginsOf(objects)).toEqual(Object.fromEntries(SERVICES.map((name) => [name, [`switchhook-${name}`, 'own']])))
    expect(JSON.parse(dataOf(objects).get('ConfigMap rabbitmq-users')?.['users.json'] ?? '')).toEqual(BROKER_USERS)
    const passwords = dataOf(objects).get('Secret rabbitmq-users') ?? secrets.get('Secret rabbitmq-users') ?? {}
    expect(Object.keys(passwords).toSorted()).toEqual(Object.keys(BROKER_USERS).toSorted())
    const [job] = jobsOf(objects)
    const { volumes = [], containers } = (job as unknown as { spec: { template: { spec: PodSpec } } }).spec.template
      .spec
    expect(volumes.map(({ configMap, secret }) => configMap?.name ?? secret?.secretName)).toEqual(
      expect.arrayContaining(['rabbitmq-users', 'rabbitmq-users']),
    )
    const mounted = containers[0].volumeMounts?.map(({ mountPath }) => mountPath) ?? []
    const named = (containers[0].env ?? []).flatMap(({ value = '' }) => (value.startsWith('/') ? [value] : []))
    for (const path of named) expect(mounted.some((folder) => path.startsWith(folder))).toBe(true)
  },
)

test.each<Combination>(['production', 'external'])('%s needs no users without usersSecret', (combination) => {
  const objects = renderObjects(combination, { overrides: ['rabbitmq.usersSecret='] })
  expect(objects.filter(({ metadata }) => metadata.name.startsWith('rabbitmq-users'))).toEqual([])
  for (const service of workloads(objects))
    expect((containerOf(service).env ?? []).map(({ name }) => name)).not.toContain('AMQP_DECLARE')
})

test('an external RabbitMQ keeps the login of its own Secret', () => {
  expect(jobsOf(renderObjects('external'))).toEqual([])
})

test('another password or version is another Job, because a Job cannot be changed', () => {
  const nameWith = (override: string) =>
    jobsOf(renderObjects('production', { overrides: [override] })).map(({ metadata }) => metadata.name)[0]
  const names = ['secrets.revision=', 'secrets.revision=2', `api.digest=sha256:${'a'.repeat(64)}`].map(nameWith)
  expect(new Set(names).size).toBe(3)
})

test.each([
  ['TLS', ['rabbitmq.tls.enabled=true', 'rabbitmq.tls.serverSecret=amqp', 'rabbitmq.tls.caSecret=amqp']],
  ['the Secret', ['rabbitmq.usersSecret=others']],
  ['the nodes', ['pods.nodeSelector.pool=calls']],
  ['the priority', ['pods.priorityClassName=high']],
  ['the registry’s login', ['image.pullSecrets[0]=registry']],
  ['how images are pulled', ['image.pullPolicy=Always']],
])('whatever else changes its pod is another Job: %s', (_what, overrides) => {
  const [before, after] = [[], overrides].map(
    (changed) => jobsOf(renderObjects('production', { overrides: changed }))[0],
  )
  expect(after?.['spec']).not.toEqual(before?.['spec'])
  expect(after?.metadata.name).not.toBe(before?.metadata.name)
})

test('KEDA logs in as the monitor', () => {
  const objects = renderObjects('production')
  const authentication = objects.find(({ kind }) => kind === 'TriggerAuthentication')
  expect(authentication?.['spec']).toEqual({
    secretTargetRef: [
      { parameter: 'username', name: 'rabbitmq-monitor', key: 'username' },
      { parameter: 'password', name: 'rabbitmq-users', key: 'monitor' },
    ],
  })
  expect(dataOf(objects).get('Secret rabbitmq-monitor')).toEqual({ username: 'switchhook-monitor' })
})

test.each<[string, string, Combination]>([
  ['rabbitmq', 'rabbitmq:4.3-management', 'production'],
  ['rabbitmq', 'rabbitmq:4.3-management', 'development'],
  ['redis', 'redis:8', 'backup'],
  ['redis.exporter', 'oliver006/redis_exporter:v1.90.0', 'production'],
])('%s.digest pins %s wherever it runs, in %s', (value, image, combination) => {
  const digest = `sha256:${'d'.repeat(64)}`
  const before = imagesOf(renderObjects(combination))
  expect(before).toContain(image)
  const pinned = before.map((one) => (one === image ? `${image}@${digest}` : one))
  expect(imagesOf(renderObjects(combination, { overrides: [`${value}.digest=${digest}`] }))).toEqual(pinned)
})

const imagesOf = (objects: readonly KubernetesObject[]): readonly string[] =>
  [...JSON.stringify(objects).matchAll(/"image":"([^"]+)"/g)].map(([, image = '']) => image)
