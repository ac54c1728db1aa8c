import { readCompose, unset } from './compose.ts'
import { IMAGES, settingsOf } from './services.ts'

const { services } = readCompose()
const environmentOf = (name: string) => services[name]?.environment ?? {}

test('plain `docker compose up` starts the whole stack; monitoring needs its profile', () => {
  const plain = Object.keys(services).filter((name) => services[name]?.profiles === undefined)
  expect(plain.toSorted()).toEqual([...IMAGES, 'rabbitmq', 'redis'].toSorted())
  const watching = Object.keys(services).filter((name) => services[name]?.profiles?.includes('monitoring'))
  expect(watching.toSorted()).toEqual(['grafana', 'prometheus', 'redis-exporter'])
})

test.each(IMAGES)('%s knows every variable that it is given and starts with the defaults of the file', (name) => {
  const environment = environmentOf(name)
  expect(settingsOf(name).variables).toEqual(expect.arrayContaining(Object.keys(environment)))
  const values = Object.entries(environment).map(([variable, value]) => [variable, unset(value ?? '')])
  expect(settingsOf(name).load(Object.fromEntries(values))).toMatchObject({ NODE_ENV: 'development' })
})

test('the stop grace period of a container exceeds the shutdown time of its service', () => {
  for (const name of IMAGES) {
    const graceMs = Number(
      settingsOf(name).load({
        AMQP_URL: 'amqp://h',
        REDIS_URL: 'redis://h',
        AUTH_ISSUERS: '[{"issuer":"https://i","audience":"a","tenant":"t"}]',
      })['SHUTDOWN_GRACE'],
    )
    expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10) * 1_000).toBeGreaterThan(graceMs)
  }
})

test('no service can write to its image or has root capabilities', () => {
  for (const name of IMAGES) expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})

test('fan-out and workers can be scaled: they have no fixed port or container name', () => {
  for (const name of ['fanout', 'delivery-worker']) {
    expect(services[name]).not.toHaveProperty('ports')
    expect(services[name]).not.toHaveProperty('container_name')
  }
})

test('ports are published on loopback only, where a person needs them, and can be changed', () => {
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, unset(port)]),
  )
  expect(published).toEqual([
    ['rabbitmq', '127.0.0.1:15672:15672'],
    ['api', '127.0.0.1:8080:8080'],
    ['dev-idp', '127.0.0.1:8090:8090'],
    ['prometheus', '127.0.0.1:9090:9090'],
    ['grafana', '127.0.0.1:3000:3000'],
  ])
  for (const { ports = [] } of Object.values(services)) for (const port of ports) expect(port).toMatch(/\$\{\w+_PORT:-/)
})

test('data is stored in volumes', () => {
  for (const [name, folder] of Object.entries({
    rabbitmq: '/var/lib/rabbitmq',
    redis: '/data',
    'dev-idp': '/var/lib/switchhook',
  })) {
    expect(services[name]?.volumes).toContain(`${name}:${folder}`)
  }
})

test('RabbitMQ and Redis run with the configuration of infra, as in the tests', () => {
  expect(services['rabbitmq']?.volumes).toEqual(
    expect.arrayContaining([
      './infra/rabbitmq/rabbitmq.conf:/etc/rabbitmq/conf.d/20-switchhook.conf:ro',
      './infra/rabbitmq/advanced.config:/etc/rabbitmq/advanced.config:ro',
    ]),
  )
  expect(services['redis']?.volumes).toContain('./infra/redis/redis.conf:/usr/local/etc/redis/redis.conf:ro')
})
