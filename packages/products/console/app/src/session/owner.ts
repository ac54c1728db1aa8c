/**
 * A page that is loaded again waits for the page before it, which releases the lock. No longer: a duplicated tab would get
 * the lock if the person loads the first tab again meanwhile.
 */
const WAIT_MS = 500
const ASK_AGAIN_MS = 50

/**
 * Resolves to whether this tab may use the refresh token of the session. A browser copies the session storage into a
 * duplicated tab, and a provider that sees a refresh token twice takes it for stolen and ends the session of both tabs.
 * The first tab holds a lock until its page is closed.
 */
export async function ownsSession(sessionId: string): Promise<boolean> {
  const untilMs = Date.now() + WAIT_MS
  for (;;) {
    // A browser that restores many tabs can answer late: only an answer to a question after the time counts as a no.
    const isLast = Date.now() >= untilMs
    if (await obtains(`switchhook.session.${sessionId}`)) return true
    if (isLast) return false
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

/** Resolves to whether this page holds the lock from now on. */
const obtains = (name: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        resolve(lock !== null)
        return lock === null ? undefined : new Promise<never>(() => {})
      })
      .catch(reject)
  })
