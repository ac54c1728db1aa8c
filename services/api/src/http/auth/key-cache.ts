import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { KeySet } from './fetch-keys.ts'

export interface KeyTiming {
  /** Interval of the periodic fetch, which bounds how long a withdrawn key is trusted. */
  readonly refreshMs: number
  /** Minimum time between two fetches for unknown key ids, so that invented ones cannot flood the provider. */
  readonly cooldownMs: number
  /** Of one fetch. */
  readonly timeoutMs: number
}

/** Without keys every token is refused, so requests wait for the next fetch, and that one comes soon. */
const FIRST_KEYS_COOLDOWN_MS = 250

/** Keeps a provider's keys, also while it is down. An unknown `kid` triggers a fetch, so keys rotate without a restart. */
export function startKeyCache(
  fetchKeys: () => Promise<KeySet>,
  { refreshMs, cooldownMs }: Omit<KeyTiming, 'timeoutMs'>,
  log: Pick<Logger, 'info' | 'warn'>,
) {
  let keys: KeySet | undefined
  let failed = false
  /** Until when the provider could not be reached, at the latest: its return is found by the next fetch. */
  let unreachableUntil = Number.NEGATIVE_INFINITY
  let fetchedAt = Number.NEGATIVE_INFINITY
  /** When the last fetch for unknown key ids began. The periodic fetch does not count. */
  let soughtAt = Number.NEGATIVE_INFINITY
  /** The next fetch for unknown key ids, until it begins. */
  let seeking: Promise<void> | undefined
  let fetching: Promise<void> | undefined

  async function fetchOnce(): Promise<void> {
    try {
      const fresh = await fetchKeys()
      // Unchanged keys stay the same object, because verifiers are cached by it.
      if (JSON.stringify(fresh) !== JSON.stringify(keys)) {
        keys = fresh
        if (fresh.unreadable > 0) log.warn('signing keys cannot be read; they are left out', { keys: fresh.unreadable })
      }
      if (failed) {
        log.info('signing keys can be fetched again')
        unreachableUntil = performance.now()
      }
      failed = false
    } catch (error) {
      if (!failed) log.warn('signing keys cannot be fetched; those already known stay in use', { error })
      failed = true
    } finally {
      fetchedAt = performance.now()
      fetching = undefined
    }
  }
  const refresh = (inMs = 0): Promise<void> => (fetching ??= inMs > 0 ? sleep(inMs).then(fetchOnce) : fetchOnce())

  async function seekSoon(): Promise<void> {
    const leftMs = soughtAt + cooldownMs - performance.now()
    await (leftMs > 0 ? sleep(leftMs, undefined, { ref: false }) : undefined)
    seeking = undefined
    soughtAt = performance.now()
    await refresh()
  }

  /** Waits for a fetch that has begun after this call. A key that was just published is no reason for a 401: many clients give up. */
  async function seek(isKnown: () => boolean): Promise<void> {
    // It may have begun before the provider published the key.
    await fetching
    if (isKnown() || (failed && performance.now() - fetchedAt < cooldownMs)) return
    await (seeking ??= seekSoon())
  }

  void refresh()
  const timer = setInterval(() => void refresh(), refreshMs).unref()

  return {
    /**
     * Resolves to the keys for a token with this `kid`. Waits for the provider only if the key is unknown: for the next fetch,
     * `cooldownMs` after the last one. While there are no keys, it waits for a fetch even if the last one has just failed: the
     * provider may have started in between.
     * @param tried keys that did not sign the token, which has no `kid`
     * @throws AppError `service-unavailable` if the key is unknown and the provider cannot be reached
     */
    async keysFor(kid: string | undefined, tried?: KeySet): Promise<KeySet> {
      const isKnown = (): boolean =>
        keys !== undefined && keys !== tried && (kid === undefined || keys.keys.some((key) => key.kid === kid))
      if (keys === undefined) {
        await refresh(fetchedAt + Math.min(cooldownMs, FIRST_KEYS_COOLDOWN_MS) - performance.now())
      } else if (!isKnown()) await seek(isKnown)
      if (keys === undefined || (failed && !isKnown())) {
        throw new AppError('service-unavailable', { detail: "The identity provider's signing keys cannot be fetched." })
      }
      return keys
    },
    /** The keys of the last fetch that succeeded; undefined before the first one. The same object while they are unchanged. */
    currentKeys: (): KeySet | undefined => keys,
    /** For how long the provider has been reachable, in ms. Before, clients may have had no token, or one with a key that is unknown here. */
    unreachableMsAgo: (): number => (failed || keys === undefined ? 0 : performance.now() - unreachableUntil),
    close: (): void => clearInterval(timer),
  }
}
