import { lifeOf } from './lifetime.ts'
import type { Profile, ProfileFile, Profiles, ProfileWriter, SignIn } from './profiles.ts'
import { openSession } from './session.ts'

const issued = (seconds: number, agoMs: number) => lifeOf(seconds, Date.now() - agoMs)

const SIGN_IN: SignIn = {
  kind: 'application',
  clientId: 'app',
  clientSecret: 'secret',
  tokenUrl: 'https://idp/token',
  scope: 'api',
  accessToken: 'old',
  ...lifeOf(3_600),
}

function profilesWith(all: Record<string, Profile>, current = 'default') {
  let stored: Profiles = { current, profiles: all }
  const writer: ProfileWriter = {
    write: async (name, profile) => {
      if (profile !== undefined) stored = { ...stored, profiles: { ...stored.profiles, [name]: profile } }
    },
    use: async () => {},
  }
  const file: ProfileFile = { read: () => stored, exclusively: async (work) => work(writer) }
  return { ...file, ...writer }
}

/** Tokens are named in the order in which they are asked for. */
function session(signIn: SignIn | undefined, env: NodeJS.ProcessEnv = {}, named?: string) {
  let renewals = 0
  const profiles = profilesWith({ default: { url: 'https://a.example', ...(signIn && { signIn }) } })
  const opened = openSession({ env, profiles, named }, async (before) => ({
    ...before,
    accessToken: `new-${++renewals}`,
    ...lifeOf(3_600),
  }))
  return { opened, profiles, renewals: () => renewals }
}

test('a valid token of the profile is used', async () => {
  const { opened, renewals } = session(SIGN_IN)
  expect([await opened.auth?.(), renewals()]).toEqual(['old', 0])
})

test.each([
  ['has expired', { ...SIGN_IN, ...issued(300, 300_001) }, undefined],
  ['ends within a minute', { ...SIGN_IN, ...issued(300, 240_001) }, undefined],
  ['has less than half of its short life left', { ...SIGN_IN, ...issued(40, 20_001) }, undefined],
  ['was refused', SIGN_IN, 'old'],
])('a token that %s is renewed once, and stored for the next command', async (_name, signIn, rejected) => {
  const { opened, profiles } = session(signIn)
  expect(await Promise.all([opened.auth?.(rejected), opened.auth?.(rejected)])).toEqual(['new-1', 'new-1'])
  expect(profiles.read().profiles['default']?.signIn?.accessToken).toBe('new-1')
  expect(await opened.auth?.()).toBe('new-1')
})

test.each([60, 30, 2])('a token that lives for %i s serves for half of its life', async (seconds) => {
  const { opened, renewals } = session({ ...SIGN_IN, ...lifeOf(seconds) })
  expect([await opened.auth?.(), renewals()]).toEqual(['old', 0])
})

test('a token that nothing can renew serves to its end', async () => {
  const { clientId, scope, accessToken = '' } = SIGN_IN
  const person = { kind: 'person', issuer: 'https://idp', clientId, scope, accessToken } as const
  const { opened, renewals } = session({ ...person, ...issued(300, 299_000) })
  expect([await opened.auth?.(), renewals()]).toEqual(['old', 0])
  const renewable = session({ ...person, refreshToken: 'refresh', ...issued(300, 299_000) }).opened
  expect(await renewable.auth?.()).toBe('new-1')
})

test('SWITCHHOOK_TOKEN comes first', async () => {
  expect(await session(SIGN_IN, { SWITCHHOOK_TOKEN: 'given' }).opened.auth?.()).toBe('given')
})

test.each(['two words', 'two\nlines'])(
  'SWITCHHOOK_TOKEN that is not a token is refused without showing it: %j',
  (token) => {
    const open = () => session(SIGN_IN, { SWITCHHOOK_TOKEN: token })
    expect(open).toThrow('SWITCHHOOK_TOKEN is not a token')
    expect(open).not.toThrow(token)
  },
)

test('a token that another command has stored meanwhile is used, and none is asked for', async () => {
  const expired = { ...SIGN_IN, ...issued(300, 300_001) }
  const profiles = profilesWith({ default: { url: 'https://a.example', signIn: expired } })
  const waiting: ProfileFile = {
    ...profiles,
    exclusively: async (work) => {
      await profiles.write('default', { url: 'https://a.example', signIn: { ...SIGN_IN, accessToken: 'theirs' } })
      return profiles.exclusively(work)
    },
  }
  const { auth } = openSession({ env: {}, profiles: waiting, named: undefined }, async () => {
    throw new Error('a token was asked for')
  })
  expect(await auth?.()).toBe('theirs')
})

test('a renewal that outlasts its lock does not replace the sign-in of another command', async () => {
  const profiles = profilesWith({
    default: { url: 'https://a.example', signIn: { ...SIGN_IN, ...issued(300, 300_001) } },
  })
  const theirs = { url: 'https://a.example', signIn: { ...SIGN_IN, accessToken: 'theirs' } }
  const { auth } = openSession({ env: {}, profiles, named: undefined }, async (before) => {
    await profiles.write('default', theirs)
    return { ...before, accessToken: 'ours' }
  })
  await expect(auth?.()).rejects.toThrow('was changed meanwhile: run the command again')
  expect(profiles.read().profiles['default']).toEqual(theirs)
})

test('a token of a login to another installation is not sent to the one that the command began with', async () => {
  const { opened, profiles } = session(SIGN_IN)
  await profiles.write('default', { url: 'https://b.example', signIn: { ...SIGN_IN, accessToken: 'of b' } })
  await expect(opened.auth?.()).rejects.toThrow('The profile "default" was changed meanwhile')
})

test('a token of the profile is not sent to another installation', () => {
  const other = session(SIGN_IN, { SWITCHHOOK_URL: 'https://b.example' }).opened
  expect([other.url, other.auth]).toEqual(['https://b.example', undefined])
  expect(session(SIGN_IN, { SWITCHHOOK_URL: 'https://A.example/' }).opened.auth).toBeDefined()
})

test('without a sign-in, requests carry no token', () => {
  expect(session(undefined).opened.auth).toBeUndefined()
})

test.each([
  ['there is no profile of the name', { SWITCHHOOK_PROFILE: 'other' }, 'There is no profile "other"'],
  ['no installation is named', { SWITCHHOOK_PROFILE: '' }, 'switchhook login <url>'],
])('says so if %s', (_name, env, message) => {
  const opened = openSession({ env, profiles: profilesWith({}), named: undefined }, async (before) => before)
  expect(() => opened.url).toThrow(message)
})
