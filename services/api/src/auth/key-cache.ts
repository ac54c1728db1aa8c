import { AppError } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { KeySet } from './fetch-keys.ts'

export interface KeyCache {
  /**
   * The keys that a token with this `kid` is to be checked with. Waits for the provider only when no key of that name
   * is known.
   * @throws AppError `service-unavailable` when it takes a key that is not known, and the provider cannot be asked
   */
  keysFor(kid: string | undefined): Promise<KeySet>
  close(): void
}

export interface KeyCacheOptions {
  readonly fetchKeys: () => Promise<KeySet>
  /** How often the keys are asked for unasked, so that a withdrawn one is not trusted for longer. */
  readonly refreshMs: number
  /** Least time between two questions, however many unknown key ids arrive: made-up ids must not become our flood. */
  readonly cooldownMs: number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Without any key every token is refused, so a provider that starts a moment after us is not kept waiting for long. */
const FIRST_KEYS_COOLDOWN_MS = 250

/**
 * Remembers one provider's keys. Once known, they hold until the provider says otherwise: a key server that is down
 * takes no valid token down with it. An unknown `kid` makes it ask anew, so keys rotate without a restart.
 */
export function startKeyCache({ fetchKeys, refreshMs, cooldownMs, log }: KeyCacheOptions): KeyCache {
  let keys: KeySet | undefined
  let failed = false
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    try {
      const fresh = await fetchKeys()
      // The same object as long as nothing changed: what was made of the keys is found by it.
      if (JSON.stringify(fresh) !== JSON.stringify(keys)) keys = fresh
      if (failed) log.info('signing keys can be fetched again')
      failed = false
    } catch (error) {
      if (!failed) log.warn('signing keys cannot be fetched; those already known stay in use', { error })
      failed = true
    } finally {
      askedAt = performance.now()
      asking = undefined
    }
  }
  const mayAsk = (): boolean => {
    const pauseMs = keys === undefined ? Math.min(cooldownMs, FIRST_KEYS_COOLDOWN_MS) : cooldownMs
    return asking !== undefined || performance.now() - askedAt >= pauseMs
  }
  const refresh = (): Promise<void> => (asking ??= ask())

  void refresh()
  const timer = setInterval(() => void refresh(), refreshMs).unref()

  return {
    async keysFor(kid) {
      if (!knows(keys, kid) && mayAsk()) await refresh()
      if (keys === undefined || (failed && !knows(keys, kid))) {
        throw new AppError('service-unavailable', { detail: "The identity provider's signing keys cannot be fetched" })
      }
      return keys
    },
    close: () => clearInterval(timer),
  }
}

/** A token without a `kid` is checked with whatever key fits. */
function knows(keys: KeySet | undefined, kid: string | undefined): boolean {
  return keys !== undefined && (kid === undefined || keys.keys.some((key) => key.kid === kid))
}
