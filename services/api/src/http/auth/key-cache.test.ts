import { AppError } from '@switchhook/contracts'
import type { KeySet } from './fetch-keys.ts'
import { startKeyCache } from './key-cache.ts'

type KeyCache = ReturnType<typeof startKeyCache>

const keySet = (...kids: string[]): KeySet => ({ keys: kids.map((kid) => ({ kid, kty: 'RSA' })), unreadable: 0 })

/** A provider whose keys and availability the test controls. */
function provider(initial: KeySet | Error) {
  let present = initial
  const questions: number[] = []
  const log: string[] = []
  let cache: KeyCache | undefined
  return {
    questions,
    log,
    publish: (keys: KeySet | Error) => (present = keys),
    start: (options: { cooldownMs?: number; refreshMs?: number } = {}): KeyCache =>
      (cache = startKeyCache(
        async () => {
          questions.push(performance.now())
          if (present instanceof Error) throw present
          return structuredClone(present)
        },
        { refreshMs: 60_000, cooldownMs: 0, ...options },
        { info: (message) => log.push(`info ${message}`), warn: (message) => log.push(`warn ${message}`) },
      )),
    stop: () => cache?.close(),
  }
}

const open: { stop(): void }[] = []
const aProvider = (initial: KeySet | Error): ReturnType<typeof provider> => {
  const made = provider(initial)
  open.push(made)
  return made
}

afterEach(() => {
  for (const made of open.splice(0)) made.stop()
  jest.useRealTimers()
})

test('concurrent requests fetch the keys once', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start()
  const all = await Promise.all(Array.from({ length: 50 }, () => cache.keysFor('a')))
  expect(new Set(all).size).toBe(1)
  expect(idp.questions).toHaveLength(1)
})

test('an unknown key id triggers a fetch, so a rotated key is found', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start()
  await cache.keysFor('a')
  idp.publish(keySet('a', 'b'))
  expect((await cache.keysFor('b')).keys.map(({ kid }) => kid)).toEqual(['a', 'b'])
})

test('a key that is published shortly after a fetch is found by the first token with it, whatever the cool-down', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ cooldownMs: 60_000 })
  await cache.keysFor('a')
  idp.publish(keySet('a', 'b'))
  expect(await Promise.all(['b', 'b', 'b'].map((kid) => cache.keysFor(kid)))).toEqual(
    [1, 2, 3].map(() => keySet('a', 'b')),
  )
  expect(idp.questions).toHaveLength(2)
})

test('a key that is published while the keys are being fetched is found', async () => {
  jest.useFakeTimers()
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ refreshMs: 1_000, cooldownMs: 60_000 })
  await cache.keysFor('a')
  jest.advanceTimersByTime(1_000)
  idp.publish(keySet('a', 'b'))
  expect(await cache.keysFor('b')).toEqual(keySet('a', 'b'))
  expect(idp.questions).toHaveLength(3)
})

test('invented key ids cannot flood the provider', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ cooldownMs: 100 })
  await cache.keysFor('a')
  await cache.keysFor('made-up')
  await Promise.all(Array.from({ length: 100 }, (_, i) => cache.keysFor(`made-up-${i}`)))
  expect(idp.questions).toHaveLength(3)
  const [, first = 0, second = 0] = idp.questions
  // A timer may fire a millisecond early, and the first question is noted a moment after its time began.
  expect(second - first).toBeGreaterThanOrEqual(98)
})

test('a key that is published after a look for an invented one is waited for', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ cooldownMs: 100 })
  const tried = await cache.keysFor(undefined)
  await cache.keysFor('made-up')
  idp.publish(keySet('a', 'b'))
  expect(await Promise.all([cache.keysFor('b'), cache.keysFor(undefined, tried)])).toEqual([
    keySet('a', 'b'),
    keySet('a', 'b'),
  ])
  expect(idp.questions).toHaveLength(3)
})

test('while the provider is down, a token with an unknown key does not wait for the next look', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ cooldownMs: 60_000 })
  await cache.keysFor('a')
  idp.publish(new Error('down'))
  for (const kid of ['b', 'c']) {
    await expect(cache.keysFor(kid)).rejects.toMatchObject({ code: 'service-unavailable' })
  }
  expect(idp.questions).toHaveLength(2)
})

test('keys that did not sign a token without a kid are looked for once more', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start({ cooldownMs: 60_000 })
  const tried = await cache.keysFor(undefined)
  idp.publish(keySet('b'))
  expect(await cache.keysFor(undefined, tried)).toEqual(keySet('b'))
  expect(await cache.keysFor(undefined, tried)).toEqual(keySet('b'))
  expect(idp.questions).toHaveLength(2)
})

test('unreadable keys are logged once, until the keys change', async () => {
  const idp = aProvider({ ...keySet('a'), unreadable: 2 })
  const cache = idp.start()
  for (let i = 0; i < 3; i++) await cache.keysFor(`made-up-${i}`)
  expect(idp.log).toEqual(['warn signing keys cannot be read; they are left out'])
})

test('known keys stay valid while the provider is down', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start()
  await cache.keysFor('a')
  idp.publish(new Error('down'))
  await expect(cache.keysFor('b')).rejects.toMatchObject({ code: 'service-unavailable' })
  await expect(cache.keysFor('a')).resolves.toEqual(keySet('a'))
  await expect(cache.keysFor(undefined)).resolves.toEqual(keySet('a'))
})

test('without keys every token is answered 503 until the provider is up', async () => {
  const idp = aProvider(new Error('down'))
  const cache = idp.start()
  const failure = await cache.keysFor('a').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(AppError)
  expect(failure).toMatchObject({ code: 'service-unavailable' })
  idp.publish(keySet('a'))
  await expect(cache.keysFor('a')).resolves.toEqual(keySet('a'))
})

test('a request waits for a provider that starts shortly after the api, whatever the cool-down', async () => {
  const idp = aProvider(new Error('not up yet'))
  const cache = idp.start({ cooldownMs: 60_000 })
  await expect(cache.keysFor('a')).rejects.toThrow('cannot be fetched')
  idp.publish(keySet('a'))
  const all = await Promise.all(Array.from({ length: 50 }, () => cache.keysFor('a')))
  expect(new Set(all).size).toBe(1)
  expect(idp.questions).toHaveLength(2)
})

test('an outage is logged once, and so is its end', async () => {
  const idp = aProvider(new Error('down'))
  const cache = idp.start()
  for (let i = 0; i < 3; i++) await expect(cache.keysFor('a')).rejects.toThrow('cannot be fetched')
  idp.publish(keySet('a'))
  await cache.keysFor('a')
  await cache.keysFor('b')
  expect(idp.log).toEqual([
    'warn signing keys cannot be fetched; those already known stay in use',
    'info signing keys can be fetched again',
  ])
})

test('unchanged keys stay the same object', async () => {
  const idp = aProvider(keySet('a'))
  const cache = idp.start()
  const before = await cache.keysFor('a')
  await cache.keysFor('unknown')
  expect(idp.questions).toHaveLength(2)
  expect(await cache.keysFor('a')).toBe(before)
})

test('a withdrawn key is not trusted after the next refresh', async () => {
  jest.useFakeTimers()
  const idp = aProvider(keySet('a', 'b'))
  const cache = idp.start({ refreshMs: 1_000 })
  await cache.keysFor('b')
  idp.publish(keySet('a'))
  await jest.advanceTimersByTimeAsync(1_000)
  expect((await cache.keysFor('a')).keys.map(({ kid }) => kid)).toEqual(['a'])
})

test('tells how long ago the provider could not be reached', async () => {
  jest.useFakeTimers({ now: 0 })
  const idp = aProvider(new Error('down'))
  const cache = idp.start({ refreshMs: 60_000 })
  expect(cache.unreachableMsAgo()).toBe(0)
  idp.publish(keySet('a'))
  await jest.advanceTimersByTimeAsync(60_000)
  // It may have returned just now.
  expect(cache.unreachableMsAgo()).toBe(0)
  await jest.advanceTimersByTimeAsync(70_000)
  expect(cache.unreachableMsAgo()).toBe(70_000)
  idp.publish(new Error('down'))
  await jest.advanceTimersByTimeAsync(60_000)
  expect(cache.unreachableMsAgo()).toBe(0)
})

test('a provider that could always be reached was never away', async () => {
  const cache = aProvider(keySet('a')).start()
  await cache.keysFor('a')
  expect(cache.unreachableMsAgo()).toBe(Infinity)
})
