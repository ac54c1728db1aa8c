import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@switchhook/chart'
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

test('the health check of RabbitMQ runs no tool of RabbitMQ, each of which starts an Erlang VM', () => {
  const [form, program] = services['rabbitmq']?.healthcheck?.test ?? []
  expect([form, program]).toEqual(['CMD', 'bash'])
})

describe('the profile asterisk', () => {
  const folder = join(repository, 'infra', 'docker', 'asterisk')
  const env = Object.fromEntries(
    [...readFileSync(join(folder, 'asterisk.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value.replaceAll(/^'|'$/g, '')],
    ),
  )
  const inFolder = (name: string): string => (env[name] ?? '').replace('/run/secrets/asterisk', join(folder, 'secrets'))

  test('adds an Asterisk that is built from Debian packages and the configuration of the private one', () => {
    expect(services['asterisk']).toMatchObject({
      profiles: ['asterisk'],
      build: { context: 'infra/docker/asterisk', additional_contexts: { configuration: 'tools/pbx/asterisk' } },
      read_only: true,
      cap_drop: ['ALL'],
      pull_policy: 'never',
    })
  })

  test('passes the api every setting of Asterisk, and asterisk.env sets them to that Asterisk', () => {
    const known = settingsOf('api').variables.filter((name) => name.startsWith('ASTERISK_'))
    expect(Object.keys(environmentOf('api'))).toEqual(expect.arrayContaining(['PLATFORM', ...known]))
    expect(Object.keys(environmentOf('api'))).toEqual(expect.arrayContaining(Object.keys(env)))
    const files = { ASTERISK_PASSWORD_FILE: '', ASTERISK_MANAGER_PASSWORD_FILE: '' }
    for (const name of Object.keys(files)) Object.assign(files, { [name]: inFolder(name) })
    const given = Object.entries(environmentOf('api')).map(([name, value]) => [name, unset(value ?? '')])
    const config = settingsOf('api').load({ ...Object.fromEntries(given), ...env, ...files })
    expect(config).toMatchObject({ PLATFORM: 'asterisk', ASTERISK_URL: 'http://asterisk:8088', ASTERISK_TRUNK: 'pstn' })
  })

  test('fills in every placeholder of the configuration, with an account for each agent', () => {
    const run = mkdtempSync(join(tmpdir(), 'compose-asterisk-'))
    const root = join(run, 'root')
    mkdirSync(join(root, 'usr', 'share', 'asterisk', 'documentation'), { recursive: true })
    mkdirSync(join(root, 'usr', 'sbin'), { recursive: true })
    mkdirSync(join(root, 'usr', 'lib', 'x86_64-linux-gnu'), { recursive: true })
    writeFileSync(join(root, 'usr', 'sbin', 'asterisk'), '#!/bin/sh\n', { mode: 0o755 })
    try {
      execFileSync('sh', [join(folder, 'start.sh')], {
        env: {
          PATH: process.env['PATH'],
          ROOT: root,
          RUN: run,
          TEMPLATES: join(repository, 'tools', 'pbx', 'asterisk'),
          PASSWORD_FILE: join(folder, 'secrets', 'password'),
          RTP_PORTS: '20000-20049',
        },
      })
      const files = readdirSync(join(run, 'etc')).map((name) => readFileSync(join(run, 'etc', name), 'utf8'))
      expect(files.filter((text) => /@[A-Z_]+@/.test(text))).toEqual([])
      const pjsip = readFileSync(join(run, 'etc', 'pjsip.conf'), 'utf8')
      const agents = JSON.parse(env['ASTERISK_AGENTS'] ?? '[]') as { endpoint: string; extension: string }[]
      for (const { endpoint, extension } of agents) {
        expect(pjsip).toContain(`[${endpoint}](agent)\n`)
        expect(pjsip).toContain(`callerid = "${endpoint}" <${extension}>`)
      }
    } finally {
      rmSync(run, { recursive: true, force: true })
    }
  })
})

test.each(IMAGES)('%s knows every variable that it is given and starts with the defaults of the file', (name) => {
  const environment = environmentOf(name)
  expect(settingsOf(name).variables).toEqual(expect.arrayContaining(Object.keys(environment)))
  const values = Object.entries(environment).map(([variable, value]) => [variable, unset(value ?? '')])
  expect(settingsOf(name).load(Object.fromEntries(values))).toMatchObject({ NODE_ENV: 'development' })
})

test.each(['api', 'fanout', 'delivery-worker'])('%s refuses the login of the file in production', (name) => {
  const values = Object.entries(environmentOf(name)).map(([variable, value]) => [variable, unset(value ?? '')])
  const load = () => settingsOf(name).load({ ...Object.fromEntries(values), NODE_ENV: 'production' })
  expect(load).toThrow('AMQP_URL has a password that is public')
})

/** They belong to RabbitMQ and Redis of the file, to files that no container has, to the published ports, and to the health checks. */
const OF_THE_FILE =
  /^(AMQP_(USERNAME|PASSWORD|PASSWORD_FILE|CA_FILE|NODES|DECLARE)|REDIS_(PASSWORD|PASSWORD_FILE|CA_FILE)|SIMULATOR_SCENARIO|LISTEN_HOST|HEALTH_PORT)$/

test.each(['api', 'fanout', 'delivery-worker'])('%s gets every other variable that is set in the shell', (name) => {
  const given = Object.keys(environmentOf(name))
  expect(settingsOf(name).variables.filter((one) => !given.includes(one) && !OF_THE_FILE.test(one))).toEqual([])
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
    ['asterisk', '127.0.0.1:5060:5060/udp'],
    ['asterisk', '127.0.0.1:20000-20049:20000-20049/udp'],
    ['prometheus', '127.0.0.1:9090:9090'],
    ['grafana', '127.0.0.1:3000:3000'],
  ])
  for (const { ports = [] } of Object.values(services))
    for (const port of ports) expect(port).toMatch(/\$\{\w+_PORTS?:-/)
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
      './infra/helm/switchhook/files/rabbitmq.conf:/etc/rabbitmq/conf.d/20-switchhook.conf:ro',
      './infra/helm/switchhook/files/advanced.config:/etc/rabbitmq/advanced.config:ro',
    ]),
  )
  expect(services['redis']?.volumes).toContain(
    './infra/helm/switchhook/files/redis.conf:/usr/local/etc/redis/redis.conf:ro',
  )
})
