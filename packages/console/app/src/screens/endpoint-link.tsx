import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { namesQuery } from '../api/queries.ts'
import { shortUrl } from '../rules/words.ts'
import { ShortId } from '../ui/parts.tsx'

/** An endpoint in a row: its name or, if that is not known, its URL or the beginning of its id. */
export function EndpointLink({
  subscriptionId,
  url,
}: {
  readonly subscriptionId: string
  readonly url?: string | null
}) {
  const { data: names } = useQuery(namesQuery)
  return (
    <Link
      to="/endpoints/$subscriptionId"
      params={{ subscriptionId }}
      className="row-link quiet"
      title={url ?? undefined}
    >
      {names?.get(subscriptionId) ?? (url === undefined ? <ShortId value={subscriptionId} /> : shortUrl(url))}
    </Link>
  )
}
