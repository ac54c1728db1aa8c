import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useEffect, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { isAway, isForbidden } from './api/client.ts'
import { keepFresh } from './live/freshness.ts'
import { router } from './router.tsx'
import { SignInScreen } from './screens/sign-in.tsx'
import { resumeSignIn, sessionStore } from './session/session.ts'
import { useStore } from './store.ts'
import './styles/tokens.css'
import './styles/page.css'
import './styles/parts.css'
import './styles/screens.css'

/** An API that is away is asked again for ever; a refusal stays a refusal. */
const MAX_RETRY_MS = 10_000

const createQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // The browser's opinion about the network says nothing about the API.
        networkMode: 'always',
        staleTime: 1_000,
        retry: (_failures, error) => isAway(error),
        retryDelay: (failures) => Math.min(1_000 * 2 ** failures, MAX_RETRY_MS),
        throwOnError: (error, query) => isForbidden(error) && query.state.data === undefined,
      },
      mutations: { networkMode: 'always' },
    },
  })

/** The console of a person who is signed in. Another issuer is another person, who gets a new cache. */
function SignedIn() {
  const queries = useMemo(createQueries, [])
  useEffect(() => keepFresh(queries), [queries])
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  )
}

function Console() {
  const session = useStore(sessionStore)
  return session.kind === 'signed-in' ? <SignedIn key={session.signIn.issuer} /> : <SignInScreen session={session} />
}

await resumeSignIn()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Console />
  </StrictMode>,
)
