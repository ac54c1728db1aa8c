import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { namesQuery } from '../api/queries.ts'
import { agentName, shortUrl } from '../rules/words.ts'
import { ShortId } from '../ui/parts.tsx'

interface EndpointLinkProps {
  readonly subscriptionId: string
  readonly url?: string | null
  readonly className?: string
  /** Shown if its name is not known. Default: its URL, or the beginning of its id. */
  readonly children?: ReactNode
}

export function EndpointLink({ subscriptionId, url, className = 'row-link quiet', children }: EndpointLinkProps) {
  const { data: names } = useQuery(namesQuery)
  const address = url === undefined ? <ShortId value={subscriptionId} /> : shortUrl(url)
  return (
    <Link to="/endpoints/$subscriptionId" params={{ subscriptionId }} className={className} title={url ?? undefined}>
      {names?.get(subscriptionId) ?? children ?? address}
    </Link>
  )
}

export const EventLink = ({ eventId, children }: { readonly eventId: string; readonly children: ReactNode }) => (
  <Link to="/events/$eventId" params={{ eventId }} className="row-link">
    {children}
  </Link>
)

export const CallLink = ({ callId }: { readonly callId: string }) => (
  <Link to="/events" search={{ q: callId }} className="row-link quiet">
    <ShortId value={callId} />
  </Link>
)

export const Agent = ({ agentUri }: { readonly agentUri: string }) => (
  <span title={agentUri}>{agentName(agentUri)}</span>
)
