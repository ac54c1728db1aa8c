import { useEffect, useState } from 'react'
import type { SignIn } from '../session/oauth.ts'
import { nameOrganization, type Offer, readOffer, type SignedOutState, signIn } from '../session/session.ts'
import { Input, textIn } from '../ui/fields.tsx'
import { Button, Empty, Loading, Notice } from '../ui/parts.tsx'

export function SignInScreen({ session }: { readonly session: SignedOutState }) {
  const [offer, retry] = useOffer()
  const [problem, setProblem] = useState<string | null>(null)
  const begin = async (entry: SignIn): Promise<void> => {
    setProblem(null)
    try {
      await signIn(entry)
    } catch {
      setProblem(
        isSecureContext
          ? `The identity provider (${entry.issuer}) cannot be reached from this browser.`
          : 'Browsers let people sign in over https only. Open the https address of this page.',
      )
    }
  }
  return (
    <main className="sign-in">
      <h1>Switchhook</h1>
      <Reason session={session} />
      {problem !== null && <Notice tone="bad">{problem}</Notice>}
      {offer === undefined && <Loading />}
      {offer === 'away' && (
        <Notice tone="bad">
          <p>The service does not answer.</p>
          <Button onClick={retry}>Try again</Button>
        </Notice>
      )}
      {offer !== undefined && offer !== 'away' && <Choices offer={offer} begin={(entry) => void begin(entry)} />}
    </main>
  )
}

function Choices({ offer, begin }: { readonly offer: Offer; readonly begin: (entry: SignIn) => void }) {
  const { issuers, asksOrganization } = offer
  if (issuers.length === 0 && !asksOrganization) {
    return (
      <Empty title="Nobody can sign in yet.">
        An operator has to register the console with the identity provider and add <code>console</code> to its entry in{' '}
        <code>AUTH_ISSUERS</code>.
      </Empty>
    )
  }
  return (
    <>
      <p className="muted">Sign in with your organization's account.</p>
      {issuers.length > 0 && (
        <ul className="tenants">
          {issuers.map((entry) => (
            <li key={entry.issuer}>
              <Button kind={issuers.length === 1 ? 'primary' : 'plain'} onClick={() => begin(entry)}>
                Sign in{entry.name !== undefined && ` to ${entry.name}`}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {asksOrganization && <Organization isFirst={issuers.length === 0} />}
    </>
  )
}

/** Asks for the name of the organization, and loads the page again with its issuer. */
function Organization({ isFirst }: { readonly isFirst: boolean }) {
  const [problem, setProblem] = useState<string | null>(null)
  const submit = async (name: string): Promise<void> => {
    setProblem(null)
    try {
      if (await nameOrganization(name)) location.reload()
      else setProblem(`Nobody signs in here as ${name}. Ask your administrator for the name of your organization.`)
    } catch {
      setProblem('The service does not answer. Try again.')
    }
  }
  return (
    <form
      className="organization"
      onSubmit={(event) => {
        event.preventDefault()
        void submit(textIn(new FormData(event.currentTarget), 'organization'))
      }}
    >
      <Input
        label={isFirst ? 'Organization' : 'Another organization'}
        name="organization"
        autoComplete="organization"
        required
      />
      <Button kind={isFirst ? 'primary' : 'plain'}>Continue</Button>
      {problem !== null && <Notice tone="bad">{problem}</Notice>}
    </form>
  )
}

function Reason({ session }: { readonly session: SignedOutState }) {
  switch (session.reason) {
    case 'expired':
      return <Notice tone="warn">Your session has ended. After signing in, you return to the same page.</Notice>
    case 'withdrawn':
      return (
        <Notice tone="warn">
          Your session has ended, because people no longer sign in here with {session.detail}. Sign in again. If that is
          not possible, ask your administrator.
        </Notice>
      )
    case 'failed':
      return <Notice tone="bad">The sign-in failed. {session.detail}</Notice>
    case 'signed-out':
      return <Notice tone="quiet">You are signed out.</Notice>
    case 'none':
      return null
  }
}

function useOffer(): readonly [Offer | 'away' | undefined, () => void] {
  const [offer, setOffer] = useState<Offer | 'away'>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    readOffer(leaving.signal).then(setOffer, () => leaving.signal.aborted || setOffer('away'))
    return () => leaving.abort()
  }, [tries])
  return [offer, () => setTries(tries + 1)]
}
