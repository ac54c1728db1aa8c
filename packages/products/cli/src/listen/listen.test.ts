import { type ClientOptions, createClient, SignInFailed } from '@switchhook/client'
import { renew } from '../session/openid.ts'
import { listen } from './listen.ts'

const nothing = (): void => {}

test('a refusal that passes is told with its reason', async () => {
  const detail = 'At most 4 requests of this subscription can wait in one process.'
  const refusal = { type: '/x', title: 'Refused', detail, status: 429, code: 'too-many-receivers', requestId: 'r-1' }
  const { listening, notes } = listenWith({ fetch: async () => Response.json(refusal, { status: 429 }) })
  await expect(listening).rejects.toThrow('the test has seen enough')
  expect(notes).toEqual([`${detail} Trying again.`])
})

/** Listens until the first note. */
function listenWith(options: Pick<ClientOptions, 'auth' | 'fetch'>) {
  const notes: string[] = []
  const listening = listen({
    client: createClient({ baseUrl: 'http://127.0.0.1', maxRetries: 0, ...options }),
    subscriptionId: 's-1',
    target: undefined,
    note: (text) => {
      notes.push(text)
      throw new Error('the test has seen enough')
    },
    onResult: nothing,
  })
  return { listening, notes }
}

test.each([undefined, 429, 503])('an identity provider that is away passes, with status %s', async (status) => {
  const { listening, notes } = listenWith({ auth: () => Promise.reject(new SignInFailed('No token.', { status })) })
  await expect(listening).rejects.toThrow('the test has seen enough')
  expect(notes).toEqual(['No token. Trying again.'])
})

test('a sign-in that has lapsed does not pass', async () => {
  const person = { kind: 'person', issuer: 'https://idp', clientId: 'cli', scope: 'api' } as const
  const { listening, notes } = listenWith({ auth: async () => (await renew(person)).accessToken ?? '' })
  await expect(listening).rejects.toThrow('sign in again with "switchhook login"')
  expect(notes).toEqual([])
})
