import { readCompose, unset } from './compose.ts'
import { IMAGES, settingsOf } from './services.ts'

const { services } = readCompose()
const environmentOf = (name: string) => services[name]?.environment ?? {}

test('plain `docker compose up` is the whole stack; what watches it is asked for', () => {
  const plain = Object.keys(services).filter((name) => services[name]?.profiles === undefined)
  expect(plain.toSorted()).toEqual([...IMAGES, 'rabbitmq', 'redis'].toSorted())
  const watching = Object.keys(services).filter((name) => services[name]?.profiles?.includes('monitoring'))
  expect(watching.toSorted()).toEqual(['grafana', 'prometheus'])
})

test.each(IMAGES)('what %s is told, it knows, and it starts with it where nothing else is set', (name) => {
  const environment = environmentOf(name)
  expect(settingsOf(name).variables).toEqual(expect.arrayContaining(Object.keys(environment)))
  const values = Object.entries(environment).map(([variable, value]) => [variable, unset(value ?? '')])
  expect(settingsOf(name).load(Object.fromEntries(values))).toMatchObject({ NODE_ENV: 'development' })
})

test('a container is given longer than its service takes to end', () => {
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

test('no service may write to its image or has rights of root', () => {
  for (const name of IMAGES) expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})

test('there can be as many workers as are wanted: nothing of theirs is there once only', () => {
  for (const name of ['fanout', 'delivery-worker']) {
    expect(services[name]).not.toHaveProperty('ports')
    expect(services[name]).not.toHaveProperty('container_name')
  }
})

test('ports are published on loopback only, one for each thing that a person opens, and can be chosen', () => {
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

test('data lies in volumes', () => {
  for (const [name, folder] of Object.entries({
    rabbitmq: '/var/lib/rabbitmq',
    redis: '/data',
    'dev-idp': '/var/lib/switchhook',
  })) {
    expect(services[name]?.volumes).toContain(`${name}:${folder}`)
  }
})
