/** @throws if the test runs in a Jest project that does not start RabbitMQ and Redis */
export function infrastructureUrl(name: 'TEST_AMQP_URL' | 'TEST_MANAGEMENT_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (url) return url
  const hint = name === 'TEST_MANAGEMENT_URL' ? '; with a given AMQP_URL, give MANAGEMENT_URL as well' : ''
  throw new Error(`${name} is not set: tests that need it are named x.it.test.ts${hint}`)
}
