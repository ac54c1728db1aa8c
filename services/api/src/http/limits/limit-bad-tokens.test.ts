import { AppError } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import type { Request } from 'express'
import { requestWith } from '../../testing/token-request.ts'
import { rememberTokens } from '../auth/remember-tokens.ts'
import { Unauthorized, type VerifiedToken } from '../auth/verify-token.ts'
import { createBadTokenLimit, networkOf } from './limit-bad-tokens.ts'

const CALLER = {
  tenant: 'acme',
  clientId: 'crm',
  issuer: 'https://idp.example',
  role: 'admin',
  expiresAtMs: Number.POSITIVE_INFINITY,
} as const
const LIMITS = { perToken: { points: 2, duration: 60 }, perAddress: { points: 5, duration: 60 } }

/** Accepts tokens that begin with `good`, and records the verified tokens. */
function aGuard(limits = LIMITS) {
  const seen: string[] = []
  const withdrawn = new Set<string>()
  const verify = async (request: Request): Promise<VerifiedToken> => {
    const authorization = request.headers.authorization ?? ''
    seen.push(authorization)
    if (authorization === 'unclear') throw new AppError('service-unavailable')
    const isGood = (): boolean => authorization.startsWith('good') && !withdrawn.has(authorization)
    if (!isGood()) throw new Unauthorized('no')
    return { caller: CALLER, hasCurrentKeys: isGood }
  }
  const limit = createBadTokenLimit((address) => address === '10.0.0.1', limits)
  const remembered = rememberTokens(verify, limit)
  const guarded = (token: string, ip: string) => remembered(requestWith(token), ip)
  const ask = async (authorization: string, ip = '203.0.113.7'): Promise<string> => {
    try {
      await guarded(authorization, ip)
      return 'in'
    } catch (error) {
      if (error instanceof AppError) return error.code
      throw error
    }
  }
  return { seen, withdrawn, ask, guarded }
}

test('a repeated bad token is verified a few times, then answered 429 with Retry-After', async () => {
  const { ask, seen, guarded } = aGuard()
  for (const expected of ['unauthorized', 'unauthorized', 'rate-limited', 'rate-limited']) {
    expect(await ask('bad')).toBe(expected)
  }
  expect(seen).toEqual(['bad', 'bad'])
  const refused = await guarded('bad', '203.0.113.7').catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: 'rate-limited',
    headers: { 'Retry-After': expect.stringMatching(/^(60|5\d)$/) },
  })
})

test('other clients of the address of a repeated bad token are accepted, also with a new token', async () => {
  const { ask } = aGuard()
  for (let n = 0; n < 100; n++) await ask('bad')
  expect(await ask('good-1')).toBe('in')
  expect(await ask('another-bad')).toBe('unauthorized')
  expect(await ask('good-2')).toBe('in')
})

test('for an address that invents tokens, only tokens that were accepted before are verified', async () => {
  const { ask, seen } = aGuard()
  expect(await ask('good-1')).toBe('in')
  for (let n = 0; n < 20; n++) await ask(`made-up-${n}`)
  expect(seen).toHaveLength(1 + LIMITS.perAddress.points)
  expect(await ask('good-2')).toBe('rate-limited')
  expect(await ask('good-1')).toBe('in')
  expect(await ask('good-2', '203.0.113.8')).toBe('in')
})

test('an address is verified again after its window', async () => {
  const { ask, seen } = aGuard({ ...LIMITS, perAddress: { points: 5, duration: 1 } })
  for (let n = 0; n < 20; n++) await ask(`made-up-${n}`)
  expect(seen).toHaveLength(5)
  await eventually(async () => expect(await ask('good-2')).toBe('in'), { timeoutMs: 5_000 })
})

test('a token that was accepted before and is now invalid loses its privilege', async () => {
  const { ask, withdrawn } = aGuard()
  expect(await ask('good-1')).toBe('in')
  withdrawn.add('good-1')
  expect(await ask('good-1')).toBe('unauthorized')
  expect(await ask('good-1')).toBe('unauthorized')
  expect(await ask('good-1')).toBe('rate-limited')
})

test('the most recently used accepted tokens are remembered', async () => {
  const { ask } = aGuard()
  for (let n = 0; n <= 10_000; n++) await ask(`good-${n}`)
  for (let n = 0; n < 5; n++) await ask(`made-up-${n}`)
  expect(await ask('good-0')).toBe('rate-limited')
  expect(await ask('good-1')).toBe('in')
})

test.each<[string, string, string, string]>([
  ['a bad token from a trusted network', 'bad', '10.0.0.1', 'unauthorized'],
  ['a token that cannot be verified now', 'unclear', '203.0.113.7', 'service-unavailable'],
])('%s is not counted', async (_name, authorization, ip, code) => {
  const { ask } = aGuard()
  for (let n = 0; n < 20; n++) expect(await ask(authorization, ip)).toBe(code)
  expect(await ask('good', ip)).toBe('in')
})

test.each<[string | undefined, string]>([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['unknown', 'unknown'],
  [undefined, 'unknown'],
])('%s is counted as %s', (address, expected) => {
  expect(networkOf(address)).toBe(expected)
})
