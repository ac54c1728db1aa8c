import { stackEnvironment } from './stack-environment.ts'

test('a stack takes settings of Switchhook, and what every program needs', () => {
  const person = {
    PATH: '/bin',
    LC_ALL: 'C',
    DELIVERY_RETRY_WAITS: '1s',
    DEV_IDP_TENANTS: '3',
    SWITCHHOOK_HOME: '/elsewhere',
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
  }
  expect(stackEnvironment(person)).toEqual(person)
})

test.each([
  'NODE_ENV',
  'NODE_OPTIONS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'DEBUG',
  'ERL_FLAGS',
  'RABBITMQ_DEFAULT_USER',
  'HTTP_PROXY',
  'MAKEFLAGS',
  'AMQP_USERNAME',
  'REDIS_PASSWORD_FILE',
])('%s of the shell is meant for other programs', (name) => {
  expect(stackEnvironment({ [name]: 'development' })).toEqual({})
})

test('user and password belong to the server that the person gives', () => {
  const person = { AMQP_URL: 'amqp://broker', AMQP_USERNAME: 'me', REDIS_URL: 'redis://store', REDIS_PASSWORD: 'x' }
  expect(stackEnvironment(person)).toEqual(person)
})

test('a value that only other programs know is ignored aloud; a wrong setting of Switchhook alone is not', () => {
  const said: string[] = []
  const shared = { LOG_LEVEL: 'trace', OTEL_TRACES_EXPORTER: 'console' }
  expect(stackEnvironment({ ...shared, BREAKER_FAILURES: 'many' }, (line) => said.push(line))).toEqual({
    BREAKER_FAILURES: 'many',
  })
  expect(said).toEqual([
    'LOG_LEVEL of your shell is ignored: for Switchhook it must be one of error, warn, info, debug',
    'OTEL_TRACES_EXPORTER of your shell is ignored: for Switchhook it must be one of otlp, none',
  ])
})
