/**
 * A page that is loaded again waits for the page before it, which releases the lock. No longer: a duplicated tab would get
 * the lock if the person loads the first tab again meanwhile.
 */
const WAIT_MS = 500

/**
 * Resolves to whether this tab may use the refresh token of the session. A browser copies the session storage into a
 * duplicated tab, and a provider that sees a refresh token twice takes it for stolen and ends the session of both tabs.
 * The first tab holds a lock until its page is closed.
 */
export const ownsSession = (sessionId: string): Promise<boolean> =>
  new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true)
      return new Promise(() => {})
    }
    navigator.locks
      .request(`switchhook.session.${sessionId}`, { signal: AbortSignal.timeout(WAIT_MS) }, hold)
      .catch(() => resolve(false))
  })
