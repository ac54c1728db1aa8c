/** @throws when the test does not run in the project that starts the infrastructure. */
export function infrastructureUrl(name: 'TEST_AMQP_URL' | 'TEST_MANAGEMENT_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (url) return url
  const hint = name === 'TEST_MANAGEMENT_URL' ? '; with a given AMQP_URL, give MANAGEMENT_URL as well' : ''
  throw new Error(`${name} is not set: tests that need it are named x.it.test.ts${hint}`)
}
