import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { isMissing } from '../../api/client.ts'
import type { Subscription } from '../../api/model.ts'
import { subscriptionQuery } from '../../api/queries.ts'
import { endpointName, endpointState } from '../../rules/endpoints.ts'
import { deliveries } from '../../rules/words.ts'
import { Empty, Id, QueryState, Screen, Status, Time, TimeAfter } from '../../ui/parts.tsx'
import { DeliveryList } from '../delivery-list.tsx'
import { CheckTab } from './check-tab.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { HeldLine } from './held.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { StatisticsTab } from './statistics-tab.tsx'

const route = getRouteApi('/endpoints/$subscriptionId')

const TABS = {
  deliveries: ['Deliveries', DeliveryList],
  statistics: ['Statistics', StatisticsTab],
  check: ['Test and check', CheckTab],
  settings: ['Settings and changes', SettingsTab],
} as const

type Tab = keyof typeof TABS

export function Endpoint() {
  const { subscriptionId } = route.useParams()
  const { tab = 'deliveries' } = route.useSearch()
  const query = useQuery(subscriptionQuery(subscriptionId))
  const { data, error } = query
  if (isMissing(error))
    return (
      <Screen title="Endpoint">
        <Empty title="There is no such endpoint.">
          It was deleted, or it belongs to another tenant. <Link to="/endpoints">Show all endpoints</Link>
        </Empty>
      </Screen>
    )
  if (data === undefined) return <QueryState query={query} />
  const shown: Tab = tab in TABS ? (tab as Tab) : 'deliveries'
  const [, Content] = TABS[shown]
  return (
    <Screen
      title={endpointName(data)}
      lead={<Lead subscription={data} />}
      actions={<EndpointActions subscription={data} />}
    >
      <nav className="tabs" aria-label="Parts of this endpoint">
        {Object.entries(TABS).map(([name, [label]]) => (
          <Link
            key={name}
            to="/endpoints/$subscriptionId"
            params={{ subscriptionId }}
            search={{ tab: name }}
            aria-current={name === shown ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <Content subscription={data} />
    </Screen>
  )
}

function Lead({ subscription }: { readonly subscription: Subscription }) {
  const { tone, label, why } = endpointState({ ...subscription, oldestHeldAt: subscription.held.oldestAt })
  const { health, parked } = subscription
  return (
    <>
      <p>
        <Status tone={tone}>{label}</Status> {why}{' '}
        {health.lastFailureAt !== null && tone !== 'good' && (
          <>
            <TimeAfter words="Failing since" at={health.failingSince} end=". " />
            Last failure <Time at={health.lastFailureAt} />, {health.lastSuccessAt === null && 'no success so far'}
            <TimeAfter words="last success" at={health.lastSuccessAt} />.{' '}
          </>
        )}
        {health.state === 'open' && <TimeAfter words="It is not contacted until" at={health.openUntil} end=". " />}
        {parked.count > 0 && `${deliveries(parked.count)} parked.`}
      </p>
      <HeldLine subscription={subscription} />
      <p className="muted url">{subscription.url ?? 'Clients receive its deliveries.'}</p>
      <p className="muted">
        <Id value={subscription.id} label="the id of the endpoint" />
      </p>
    </>
  )
}
