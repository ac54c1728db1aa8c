import { commonFields } from './common-fields.ts'
import { ConfigError, type Fields, loadConfig, type Rule } from './config.ts'
import { choice, duration, flag, integer, json, networks, optional, text, url } from './fields.ts'

function problem<F extends Fields>(fields: F, env: NodeJS.ProcessEnv, rules: readonly Rule<F>[] = []): string {
  try {
    loadConfig(fields, env, rules)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'no error'
}

test('each variable is read by its field, and an unset or empty one gets its default', () => {
  const fields = { NAME: text('default'), WAIT: duration('10s'), STRICT: flag(true), EXTRA: optional(text()) }
  expect(loadConfig(fields, { NAME: 'x', WAIT: '', OTHER: 'ignored' })).toEqual({
    NAME: 'x',
    WAIT: 10_000,
    STRICT: true,
    EXTRA: undefined,
  })
})

test('a configuration cannot be changed', () => {
  const config = loadConfig({ NAME: text('default') }, {}) as { NAME: string }
  expect(() => (config.NAME = 'changed')).toThrow(TypeError)
})

test('all problems are reported together, by name and without values', () => {
  const fields = {
    AMQP_URL: url(['amqp']),
    COUNT: integer({ min: 1, max: 9 }),
    MODE: choice(['on', 'off']),
    STRICT: flag(),
    WAIT: duration(),
    NETWORKS: networks(),
    ISSUERS: json({ type: 'array' }),
    MISSING: text(),
    EMPTY: text(),
  }
  const secret = 'secret-value'
  const env = Object.fromEntries(Object.keys(fields).map((name) => [name, secret]))
  const message = problem(fields, { ...env, AMQP_URL: `http://u:${secret}@h`, MISSING: undefined, EMPTY: '' })
  const lines = message.split('\n')
  expect(lines[0]).toBe('invalid configuration')
  expect(lines.slice(1).map((line) => line.trim().split(' ')[0])).toEqual(Object.keys(fields))
  expect(message).toContain('MISSING is required')
  expect(message).toContain('EMPTY is required')
  expect(message).not.toContain(secret)
})

describe('rules about several variables', () => {
  const fields = { DEPLOYMENT: choice(['cloud', 'on-premise'], 'cloud'), TRUSTED: networks('') }
  const needsOnPremise: Rule<typeof fields> = ({ DEPLOYMENT, TRUSTED }) =>
    DEPLOYMENT === 'cloud' && TRUSTED.length > 0 ? 'TRUSTED needs DEPLOYMENT=on-premise' : undefined
  const never: Rule<typeof fields> = () => 'DEPLOYMENT is never right'

  test('a rule that holds reports nothing', () => {
    expect(loadConfig(fields, { DEPLOYMENT: 'on-premise', TRUSTED: '10.0.0.0/8' }, [needsOnPremise])).toMatchObject({
      DEPLOYMENT: 'on-premise',
    })
  })

  test('all broken rules are reported', () => {
    expect(problem(fields, { TRUSTED: '10.0.0.0/8' }, [needsOnPremise, never])).toBe(
      'invalid configuration\n  TRUSTED needs DEPLOYMENT=on-premise\n  DEPLOYMENT is never right',
    )
  })

  test('rules are not checked while a single value is invalid', () => {
    expect(problem(fields, { DEPLOYMENT: 'moon' }, [never])).toBe(
      'invalid configuration\n  DEPLOYMENT must be one of cloud, on-premise',
    )
  })
})

test('a bug in a field is not reported as a wrong value', () => {
  const broken = {
    parse: () => {
      throw new RangeError('bug')
    },
    fallback: undefined,
  }
  expect(() => loadConfig({ X: broken }, { X: 'x' })).toThrow(RangeError)
})

test('the common fields require the broker and Redis; the others have defaults', () => {
  expect(problem(commonFields, {})).toBe('invalid configuration\n  AMQP_URL is required\n  REDIS_URL is required')
  expect(loadConfig(commonFields, { AMQP_URL: 'amqp://127.0.0.1', REDIS_URL: 'redis://127.0.0.1' })).toEqual({
    AMQP_URL: ['amqp://127.0.0.1'],
    AMQP_DECLARE: 'all',
    REDIS_URL: ['redis://127.0.0.1'],
    REDIS_DURABILITY: 'checked',
    NODE_ENV: 'development',
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: undefined,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: undefined,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_SDK_DISABLED: false,
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    OTEL_TRACES_SAMPLER_ARG: 1,
    LOG_LEVEL: 'info',
    SHUTDOWN_GRACE: 30_000,
    HEALTH_PORT: 9_100,
  })
})
