import { useEffect, useState } from 'react'
import type { SignIn } from '../session/oauth.ts'
import { type SessionState, signIn } from '../session/session.ts'
import { Button, Empty, Loading, Notice } from '../ui/parts.tsx'

type SignedOutState = Extract<SessionState, { kind: 'signed-out' }>

/** Offers the issuers of this installation. */
export function SignInScreen({ session }: { readonly session: SignedOutState }) {
  const [issuers, retry] = useIssuers()
  const [problem, setProblem] = useState<string | null>(null)
  const begin = async (entry: SignIn): Promise<void> => {
    setProblem(null)
    try {
      await signIn(entry)
    } catch {
      setProblem(`The identity provider of ${entry.name} (${entry.issuer}) cannot be reached from this browser.`)
    }
  }
  return (
    <main className="sign-in">
      <h1>Switchhook</h1>
      <Reason session={session} />
      {problem !== null && <Notice tone="bad">{problem}</Notice>}
      {issuers === undefined && <Loading />}
      {issuers === 'away' && (
        <Notice tone="bad">
          <p>The service does not answer.</p>
          <Button onClick={retry}>Try again</Button>
        </Notice>
      )}
      {Array.isArray(issuers) && issuers.length === 0 && (
        <Empty title="Nobody can sign in yet.">
          <p>
            An operator has to register the console with the identity provider and add <code>console</code> to its entry
            in <code>AUTH_ISSUERS</code>.
          </p>
        </Empty>
      )}
      {Array.isArray(issuers) && issuers.length > 0 && (
        <>
          <p className="muted">Sign in with your organization's account.</p>
          <ul className="tenants">
            {issuers.map((entry) => (
              <li key={entry.issuer}>
                <Button kind={issuers.length === 1 ? 'primary' : 'plain'} onClick={() => void begin(entry)}>
                  Sign in to {entry.name}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </main>
  )
}

function Reason({ session }: { readonly session: SignedOutState }) {
  switch (session.reason) {
    case 'expired':
      return <Notice tone="warn">Your session has ended. After signing in, you return to the same page.</Notice>
    case 'failed':
      return <Notice tone="bad">The sign-in failed. {session.detail}</Notice>
    case 'signed-out':
      return <Notice tone="quiet">You are signed out.</Notice>
    case 'none':
      return null
  }
}

function useIssuers(): readonly [readonly SignIn[] | 'away' | undefined, () => void] {
  const [issuers, setIssuers] = useState<readonly SignIn[] | 'away'>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    fetch(new URL('config.json', document.baseURI), { signal: leaving.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error(`config.json: ${response.status}`)
        return ((await response.json()) as { issuers: readonly SignIn[] }).issuers
      })
      .then(setIssuers, () => leaving.signal.aborted || setIssuers('away'))
    return () => leaving.abort()
  }, [tries])
  return [issuers, () => setTries(tries + 1)]
}
