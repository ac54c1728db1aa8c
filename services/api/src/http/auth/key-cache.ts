import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { KeySet } from './fetch-keys.ts'

export interface KeyTiming {
  /** Interval of the periodic fetch, which bounds how long a withdrawn key is trusted. */
  readonly refreshMs: number
  /** Minimum time between two fetches, so that invented key ids cannot flood the provider. */
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
  let fetchedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  async function fetchOnce(): Promise<void> {
    try {
      const fresh = await fetchKeys()
      // Unchanged keys stay the same object, because verifiers are cached by it.
      if (JSON.stringify(fresh) !== JSON.stringify(keys)) keys = fresh
      if (failed) log.info('signing keys can be fetched again')
      failed = false
    } catch (error) {
      if (!failed) log.warn('signing keys cannot be fetched; those already known stay in use', { error })
      failed = true
    } finally {
      fetchedAt = performance.now()
      fetching = undefined
    }
  }
  const pauseLeftMs = (pauseMs: number): number => fetchedAt + pauseMs - performance.now()
  const refresh = (inMs = 0): Promise<void> => (fetching ??= inMs > 0 ? sleep(inMs).then(fetchOnce) : fetchOnce())

  void refresh()
  const timer = setInterval(() => void refresh(), refreshMs).unref()

  return {
    /**
     * Resolves to the keys for a token with this `kid`. Waits for the provider only if the `kid` is unknown. While there are no
     * keys, it waits for a fetch even if the last one has just failed: the provider may have started in between.
     * @throws AppError `service-unavailable` if the `kid` is unknown and the provider cannot be reached
     */
    async keysFor(kid: string | undefined): Promise<KeySet> {
      if (keys === undefined) await refresh(pauseLeftMs(Math.min(cooldownMs, FIRST_KEYS_COOLDOWN_MS)))
      else if (!knows(keys, kid) && (fetching !== undefined || pauseLeftMs(cooldownMs) <= 0)) await refresh()
      if (keys === undefined || (failed && !knows(keys, kid))) {
        throw new AppError('service-unavailable', { detail: "The identity provider's signing keys cannot be fetched." })
      }
      return keys
    },
    close: (): void => clearInterval(timer),
  }
}

/** A token without a `kid` can be verified with any key. */
const knows = (keys: KeySet | undefined, kid: string | undefined): boolean =>
  keys !== undefined && (kid === undefined || keys.keys.some((key) => key.kid === kid))
