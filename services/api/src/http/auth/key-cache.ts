import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { retryAfter } from '../headered-error.ts'
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

/** The provider's clock may differ from ours by this much. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

const SOUGHT_RECENTLY =
  'The signing key of the token is unknown, and the keys of its issuer were fetched a few seconds ago. Repeat the request.'

/** What a token says about its key. It is not verified yet: a stranger can say anything. */
export interface TokenKey {
  readonly kid: string | undefined
  /** In ms since 1970; undefined if the token does not say it. */
  readonly issuedAtMs: number | undefined
}

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
  /** When the last successful fetch began, in ms since 1970: what was published then is known. */
  let knownSinceMs = Number.NEGATIVE_INFINITY
  /** When the last fetch for an unknown `kid` ended; infinite while it runs. The periodic fetch does not count. */
  let soughtAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  async function fetchOnce(): Promise<void> {
    const beganAtMs = Date.now()
    try {
      const fresh = await fetchKeys()
      knownSinceMs = beganAtMs
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

  async function seek(isKnown: () => boolean, issuedAtMs = Number.POSITIVE_INFINITY): Promise<void> {
    // It may have begun before the provider published the key.
    await fetching
    if (isKnown()) return
    if (performance.now() - soughtAt >= cooldownMs) {
      soughtAt = Number.POSITIVE_INFINITY
      await refresh()
      soughtAt = performance.now()
      return
    }
    // Another request may have begun one in the meantime.
    await fetching
    if (isKnown() || failed || issuedAtMs + MAX_CLOCK_DIFFERENCE_MS < knownSinceMs) return
    // Neither a 401, which is final for many clients, nor a 503: strangers would set off the alert for failing requests.
    const leftMs = Math.min(soughtAt - performance.now(), 0) + cooldownMs
    throw retryAfter('rate-limited', Math.max(Math.ceil(leftMs / 1_000), 1), SOUGHT_RECENTLY)
  }

  void refresh()
  const timer = setInterval(() => void refresh(), refreshMs).unref()

  return {
    /**
     * Resolves to the keys for a token. Waits for the provider only if the key is unknown. While there are no
     * keys, it waits for a fetch even if the last one has just failed: the provider may have started in between.
     * @param tried keys that did not sign the token, which has no `kid`
     * @throws AppError `service-unavailable` if the key is unknown and the provider cannot be reached, and `rate-limited` if
     *   the token is so new that its key may have been published since the keys were fetched for another unknown key
     */
    async keysFor({ kid, issuedAtMs }: TokenKey, tried?: KeySet): Promise<KeySet> {
      const isKnown = (): boolean =>
        keys !== undefined && keys !== tried && (kid === undefined || keys.keys.some((key) => key.kid === kid))
      if (keys === undefined) {
        await refresh(fetchedAt + Math.min(cooldownMs, FIRST_KEYS_COOLDOWN_MS) - performance.now())
      } else if (!isKnown()) await seek(isKnown, issuedAtMs)
      if (keys === undefined || (failed && !isKnown())) {
        throw new AppError('service-unavailable', { detail: "The identity provider's signing keys cannot be fetched." })
      }
      return keys
    },
    /** For how long the provider has been reachable, in ms. Before, clients may have had no token, or one with a key that is unknown here. */
    unreachableMsAgo: (): number => (failed || keys === undefined ? 0 : performance.now() - unreachableUntil),
    close: (): void => clearInterval(timer),
  }
}
