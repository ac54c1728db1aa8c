import type { Request } from 'express'
import { requestWith } from '../../testing/token-request.ts'
import { rememberTokens } from './remember-tokens.ts'
import { Unauthorized, type VerifiedToken } from './verify-token.ts'

const EXPIRES_AT_MS = 60_000

function verifierUnderTest() {
  const state = { nowMs: 0, hasCurrentKeys: true, isRejected: false, verified: [] as string[] }
  const verify = async (request: Request): Promise<VerifiedToken> => {
    const authorization = request.headers.authorization ?? ''
    state.verified.push(authorization)
    if (state.isRejected) throw new Unauthorized('no')
    const caller = { tenant: 'acme', clientId: authorization, role: 'admin', expiresAtMs: EXPIRES_AT_MS } as const
    return { caller, hasCurrentKeys: () => state.hasCurrentKeys }
  }
  const remembered = rememberTokens(verify, undefined, () => state.nowMs)
  return { state, authenticate: (token: string) => remembered(requestWith(token)) }
}

test('a token is verified once until it expires', async () => {
  const { state, authenticate } = verifierUnderTest()
  for (const nowMs of [0, 1, EXPIRES_AT_MS - 1]) {
    state.nowMs = nowMs
    expect(await authenticate('a')).toEqual({
      tenant: 'acme',
      clientId: 'a',
      role: 'admin',
      expiresAtMs: EXPIRES_AT_MS,
    })
  }
  expect(state.verified).toEqual(['a'])
  state.nowMs = EXPIRES_AT_MS
  await authenticate('a')
  expect(state.verified).toEqual(['a', 'a'])
})

test('each token is remembered on its own', async () => {
  const { state, authenticate } = verifierUnderTest()
  expect(await authenticate('a')).toMatchObject({ clientId: 'a' })
  expect(await authenticate('b')).toMatchObject({ clientId: 'b' })
  expect(state.verified).toEqual(['a', 'b'])
})

test('a token is verified again as soon as the keys have changed', async () => {
  const { state, authenticate } = verifierUnderTest()
  await authenticate('a')
  state.hasCurrentKeys = false
  state.isRejected = true
  await expect(authenticate('a')).rejects.toBeInstanceOf(Unauthorized)
  state.hasCurrentKeys = true
  await expect(authenticate('a')).rejects.toBeInstanceOf(Unauthorized)
})

test('a rejected token is verified each time', async () => {
  const { state, authenticate } = verifierUnderTest()
  state.isRejected = true
  await expect(authenticate('a')).rejects.toBeInstanceOf(Unauthorized)
  await expect(authenticate('a')).rejects.toBeInstanceOf(Unauthorized)
  expect(state.verified).toEqual(['a', 'a'])
})
