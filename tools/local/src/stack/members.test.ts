import { type Home } from '@switchhook/test-servers'
import { type Member, memberEnvironment, membersOf } from './members.ts'
import { readStackOptions } from './stack-options.ts'

const backing = {
  amqpUrl: 'amqp://broker',
  managementUrl: null,
  redisUrl: 'redis://store',
  providers: { rabbitmq: 'local', redis: 'local' },
  stop: async () => {},
} as const

const home: Home = {
  path: '/home',
  id: 'home',
  runDir: '/home/run',
  logDir: '/home/log',
  dataDir: '/home/data',
  pidFile: (name) => name,
  identityFile: (name) => name,
  logFile: (name) => name,
}

const environmentOf = (member: Member | undefined, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  if (member === undefined) throw new Error('no such member')
  return memberEnvironment(member, { port: 1, healthPort: 2 }, { home, env, backing, idpUrl: 'http://127.0.0.1:8090' })
}

const members = membersOf(readStackOptions({}))
const memberOf = (kind: Member['kind']): Member | undefined => members.find((member) => member.kind === kind)

test('a stack is an identity provider and the replicas of each service, numbered from 1', () => {
  expect(members.map(({ name }) => name)).toEqual([
    'dev-idp',
    'api-1',
    'fanout-1',
    'delivery-worker-1',
    'delivery-worker-2',
  ])
})

test('variables of the user override the defaults', () => {
  const env = environmentOf(memberOf('delivery-worker'), {
    DELIVERY_RETRY_WAITS: '1s',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8',
    NODE_ENV: 'test',
  })
  expect(env).toMatchObject({ DELIVERY_RETRY_WAITS: '1s', WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8', NODE_ENV: 'test' })
})

test('a local stack listens on this machine only, unless the user asks for more', () => {
  expect(environmentOf(memberOf('api'), {})['LISTEN_HOST']).toBe('127.0.0.1')
  expect(environmentOf(memberOf('api'), { LISTEN_HOST: '0.0.0.0' })['LISTEN_HOST']).toBe('0.0.0.0')
})

test('an empty variable counts as unset', () => {
  expect(environmentOf(memberOf('api'), { NODE_ENV: '', WEBHOOK_ALLOWED_NETWORKS: '' })).toMatchObject({
    NODE_ENV: 'development',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
  })
})

test('the URLs and ports of the stack override variables of the user', () => {
  const env = environmentOf(memberOf('api'), { HEALTH_PORT: '9100', API_PORT: '0', AMQP_URL: 'amqp://other' })
  expect(env).toMatchObject({ AMQP_URL: 'amqp://broker', REDIS_URL: 'redis://store', API_PORT: '1', HEALTH_PORT: '2' })
})

test('the api trusts one issuer per tenant of the identity provider', () => {
  const issuers: unknown = JSON.parse(String(environmentOf(memberOf('api'), {})['AUTH_ISSUERS']))
  expect(issuers).toEqual(
    ['acme', 'globex'].map((tenant) => ({
      issuer: `http://127.0.0.1:8090/${tenant}`,
      audience: 'switchhook',
      tenant,
      jwksUri: `http://127.0.0.1:8090/${tenant}/discovery/v2.0/keys`,
      roles: { claim: 'roles', viewer: ['viewer'], operator: ['operator'], admin: ['admin'] },
      console: { clientId: 'console', scope: 'openid switchhook/.default' },
      cli: { clientId: 'cli', scope: 'openid switchhook/.default' },
    })),
  )
})

test('the identity provider stores its keys in the home and gets no RabbitMQ or Redis URL', () => {
  const env = environmentOf(memberOf('dev-idp'), {})
  expect(env).toMatchObject({ DEV_IDP_PORT: '1', DEV_IDP_KEYS: '/home/data/dev-idp-keys.json' })
  expect(env).not.toHaveProperty('AMQP_URL')
})
