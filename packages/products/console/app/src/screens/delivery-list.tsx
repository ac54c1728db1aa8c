import { EVENT_TYPES, OutcomeNumber } from '@switchhook/client'
import type { DeliverySummary, Subscription } from '../api/model.ts'
import { deliveriesQuery } from '../api/queries.ts'
import { capital, count, outcomeLabel, toneOfState } from '../rules/words.ts'
import { DELIVERY_FILTERS, ENDPOINT_FILTERS, useFilters } from '../search-params.ts'
import { optionsOf } from '../ui/fields.tsx'
import { ChoiceFilter, PeriodFilters, TextFilter } from '../ui/filters.tsx'
import { Button, Empty, QueryState, Screen, Status, Time } from '../ui/parts.tsx'
import { type Column, Table, useList } from '../ui/table.tsx'
import { EndpointLink, EventLink } from './links.tsx'

export const Deliveries = () => (
  <Screen title="Deliveries" lead="One delivery is one event for one endpoint.">
    <DeliveryList />
  </Screen>
)

/** Deliveries with filters. With a `subscription`, those of one endpoint. */
export function DeliveryList({ subscription }: { readonly subscription?: Subscription }) {
  const [all, filter] = useFilters()
  const isOfAll = subscription === undefined
  const offered = isOfAll ? DELIVERY_FILTERS : ENDPOINT_FILTERS
  const set = Object.fromEntries(offered.map((name) => [name, all[name]]))
  const { query, rows, isEmpty, more } = useList(
    deliveriesQuery(isOfAll ? set : { ...set, subscriptionId: subscription.id }),
  )
  const isFiltered = Object.values(set).some((value) => value !== undefined)
  const columns = isOfAll ? COLUMNS : COLUMNS.filter(({ title }) => title !== 'Endpoint')
  return (
    <>
      <div className="filters">
        <ChoiceFilter name="state" label="State" options={STATE_OPTIONS} />
        <ChoiceFilter name="outcome" label="Last outcome" options={OUTCOME_OPTIONS} />
        {isOfAll && <TextFilter name="status" label="Last status" />}
        {isOfAll && <ChoiceFilter name="parkedReason" label="Parked because" options={REASON_OPTIONS} />}
        <ChoiceFilter name="eventType" label="Event type" options={EVENT_TYPE_OPTIONS} />
        {isOfAll && <TextFilter name="agentUri" label="Agent" />}
        {isOfAll && <TextFilter name="callId" label="Call" />}
        {isOfAll && <TextFilter name="subscriptionId" label="Endpoint id" />}
        <PeriodFilters />
      </div>
      <QueryState query={query} />
      {isEmpty && (
        <Empty title={isFiltered ? 'No delivery matches the filters.' : 'There are no deliveries.'}>
          {isFiltered && (
            <Button onClick={() => filter(Object.fromEntries(offered.map((name) => [name, ''])))}>
              Remove the filters
            </Button>
          )}
        </Empty>
      )}
      <Table label="Deliveries" columns={columns} rows={rows} keyOf={({ deliveryId }) => deliveryId} more={more} />
    </>
  )
}

const STATES = ['pending', 'waiting', 'held', 'acknowledged', 'parked', 'withdrawn', 'expired']
const STATE_OPTIONS = optionsOf('Any', STATES, capital)
const REASON_OPTIONS = optionsOf('Any', ['exhausted', 'rejected'], capital)

const OUTCOMES = Object.keys(OutcomeNumber).filter((name) => name !== 'unknown')
const OUTCOME_OPTIONS = optionsOf('Any', OUTCOMES)

export const EVENT_TYPE_OPTIONS = optionsOf('Any', EVENT_TYPES)

const COLUMNS: readonly Column<DeliverySummary>[] = [
  { title: 'Due', cell: ({ firstDueAt }) => <Time at={firstDueAt} /> },
  {
    title: 'Event',
    isWide: true,
    cell: ({ eventId, eventType, test }) => (
      <EventLink eventId={eventId}>
        {eventType}
        {test && <span className="tag">test</span>}
      </EventLink>
    ),
  },
  {
    title: 'Endpoint',
    isOptional: true,
    cell: ({ url, subscriptionId }) => <EndpointLink subscriptionId={subscriptionId} url={url} />,
  },
  { title: 'State', cell: ({ state }) => <Status tone={toneOfState(state)}>{state}</Status> },
  { title: 'Attempts', align: 'end', isOptional: true, cell: ({ attempts }) => count(attempts.length) },
  {
    title: 'Last result',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      return last && outcomeLabel(last.outcome, last.status)
    },
  },
  { title: 'Next attempt', isOptional: true, cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} ago /> },
]
