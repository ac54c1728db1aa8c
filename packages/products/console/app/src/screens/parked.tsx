import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ParkedGroup } from '../api/model.ts'
import { isDeletedQuery, namesQuery, parkedQuery } from '../api/queries.ts'
import { count, outcomePhrase, shortUrl } from '../rules/words.ts'
import { RoleButton } from '../ui/action.tsx'
import { Empty, QueryState, Screen, Time } from '../ui/parts.tsx'
import { EndpointLink } from './links.tsx'
import { RecoverDialog } from './recover-dialogs.tsx'

const CAUSES = {
  exhausted: 'The schedule ended, or a limit was reached.',
  rejected: 'Such an answer is not retried.',
  older: 'Older deliveries, whose causes were not read.',
} as const

export function Parked() {
  const query = useQuery(parkedQuery)
  const { data } = query
  const { data: names } = useQuery(namesQuery)
  const [recovering, setRecovering] = useState<ParkedGroup | null>(null)
  return (
    <Screen
      title="Parked"
      lead="Parked deliveries are no longer retried. They are kept, and can be sent again once the endpoint is repaired."
    >
      <QueryState query={query} />
      {data?.items.length === 0 && (
        <Empty title="Nothing is parked.">Every delivery was acknowledged, or is still being retried.</Empty>
      )}
      <ul className="groups">
        {data?.items.map((group) => (
          <Group
            key={`${group.subscriptionId} ${group.parkedReason} ${group.outcome} ${group.status}`}
            group={group}
            recover={() => setRecovering(group)}
          />
        ))}
      </ul>
      {recovering && (
        <RecoverDialog
          subscriptionId={recovering.subscriptionId}
          name={names?.get(recovering.subscriptionId) ?? shortUrl(recovering.url)}
          reason={recovering.parkedReason ?? ''}
          onClose={() => setRecovering(null)}
        />
      )}
    </Screen>
  )
}

function Group({ group, recover }: { readonly group: ParkedGroup; readonly recover: () => void }) {
  const { data: isDeleted = false } = useQuery(isDeletedQuery(group.subscriptionId))
  const address = group.url === '' ? group.subscriptionId : shortUrl(group.url)
  return (
    <li>
      <strong className="number">{count(group.count)}</strong>
      <div>
        <p>
          {isDeleted ? (
            <strong>Deleted endpoint</strong>
          ) : (
            <EndpointLink subscriptionId={group.subscriptionId} url={group.url} className="url">
              {address}
            </EndpointLink>
          )}{' '}
          {group.parkedReason !== null && outcomePhrase(group.outcome, group.status)}
        </p>
        <p className="muted">
          {CAUSES[group.parkedReason ?? 'older']} Since <Time at={group.since} />, latest <Time at={group.latest} />.
        </p>
        {isDeleted && (
          <p className="muted">
            <span className="url">{address}</span> was deleted, so these can no longer be sent. They expire by
            themselves.
          </p>
        )}
      </div>
      <div className="next">
        <Link
          to="/deliveries"
          search={{
            state: 'parked',
            subscriptionId: group.subscriptionId,
            ...(group.parkedReason !== null && { parkedReason: group.parkedReason }),
            ...(group.outcome !== null && { outcome: group.outcome }),
            ...(group.status !== null && { status: String(group.status) }),
          }}
          className="button plain"
        >
          Show
        </Link>
        {!isDeleted && (
          <RoleButton kind="primary" needs="operator" onClick={recover}>
            Recover
          </RoleButton>
        )}
      </div>
    </li>
  )
}
