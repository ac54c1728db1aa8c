import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { client, isMissing } from '../api/client.ts'
import type { ListedEvent } from '../api/model.ts'
import { eventsQuery, happenedQuery } from '../api/queries.ts'
import { eventState, progressOf, recognise } from '../rules/events.ts'
import { type Filters, useFilters } from '../search-params.ts'
import { ChoiceFilter, PeriodFilters, TextFilter } from '../ui/filters.tsx'
import { Empty, QueryState, Screen, Status, Time } from '../ui/parts.tsx'
import { type Column, Table, useList } from '../ui/table.tsx'
import { EVENT_TYPE_OPTIONS } from './delivery-list.tsx'
import { Agent, CallLink, EventLink } from './links.tsx'

const NAMES = { agentUri: 'the agent', number: 'the phone number', correlationId: 'the correlation id' } as const

export function Events() {
  const [{ q = '', eventType, from, to }] = useFilters()
  const filters = { eventType, from, to }
  const sought = recognise(q)
  return (
    <Screen title="Events" lead="Search by any id, SIP URI, phone number or correlation id.">
      <div className="filters">
        <TextFilter name="q" label="Search" placeholder="sip:alice@acme.example, +1 555 9000, crm-4711" />
        <ChoiceFilter name="eventType" label="Event type" options={EVENT_TYPE_OPTIONS} />
        <PeriodFilters />
      </div>
      {sought?.kind === 'id' ? (
        <FoundById id={sought.value} correlationId={sought.orCorrelationId} filters={filters} />
      ) : (
        <EventList
          // Shows the person how the text was understood.
          what={sought && `${NAMES[sought.kind]} ${sought.value}`}
          filters={{ ...filters, ...(sought && { [sought.kind]: sought.value }) }}
          orCorrelationId={sought?.orCorrelationId}
        />
      )}
    </Screen>
  )
}

interface FoundByIdProps {
  readonly id: string
  readonly correlationId: string | undefined
  readonly filters: Filters
}

/** An id alone does not say what it is the id of, so all kinds are tried together. */
function FoundById({ id, correlationId, filters }: FoundByIdProps) {
  const query = useQuery({
    queryKey: ['delivery', 'find', id, correlationId],
    queryFn: () => findById(id, correlationId),
  })
  const { data } = query
  if (query.error || data === undefined) return <QueryState query={query} />
  if (data.eventId) return <Navigate to="/events/$eventId" params={{ eventId: data.eventId }} replace />
  if (data.subscription) return <Navigate to="/endpoints/$subscriptionId" params={{ subscriptionId: id }} replace />
  if (data.recovery) return <Navigate to="/recoveries/$recoveryId" params={{ recoveryId: id }} replace />
  if (data.isCall) return <EventList what={`the call ${id}`} filters={{ ...filters, callId: id }} />
  if (data.isCorrelationId)
    return <EventList what={`${NAMES.correlationId} ${correlationId}`} filters={{ ...filters, correlationId }} />
  return (
    <Empty title="Nothing has this id.">
      It is not the id of a stored event, delivery, call, endpoint or recovery of your tenant, and not the correlation
      id of an event. Records are kept for a limited time.
    </Empty>
  )
}

/** Finds out what an id belongs to. A delivery leads to its event. */
async function findById(id: string, correlationId: string | undefined) {
  const [event, delivery, subscription, recovery, isCall] = await Promise.all([
    orNothing(client.events.explain(id)),
    orNothing(client.deliveries.read(id)),
    orNothing(client.subscriptions.read(id)),
    orNothing(client.recoveries.read(id)),
    hasEvents({ callId: id }),
  ])
  const eventId = (event ?? delivery)?.eventId
  const isFound = eventId !== undefined || subscription !== undefined || recovery !== undefined || isCall
  // Last, because it is one more search through all events.
  const isCorrelationId = !isFound && correlationId !== undefined && (await hasEvents({ correlationId }))
  return { eventId, subscription, recovery, isCall, isCorrelationId }
}

async function hasEvents(query: { readonly callId: string } | { readonly correlationId: string }): Promise<boolean> {
  const { items, nextCursor } = await client.events.list({ ...query, limit: 1 }).page()
  return items.length > 0 || nextCursor !== null
}

const orNothing = <T,>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

interface EventListProps {
  readonly what: string | null
  readonly filters: Filters
  readonly orCorrelationId?: string | undefined
  /** What was looked for first, and has no events. */
  readonly first?: string | null
}

function EventList({ what, filters, orCorrelationId, first }: EventListProps) {
  const { query, rows, isEmpty, more } = useList(eventsQuery(filters))
  if (query.error || query.isPending) return <QueryState query={query} />
  if (isEmpty && orCorrelationId !== undefined) {
    const { eventType, from, to } = filters
    return (
      <EventList
        what={`${NAMES.correlationId} ${orCorrelationId}`}
        filters={{ eventType, from, to, correlationId: orCorrelationId }}
        first={what}
      />
    )
  }
  return (
    <>
      {what !== null && (
        <p role="status" className="muted">
          {rows.length === 0 ? `No event of ${first ?? what}.` : `Events of ${what}, newest first.`}
        </p>
      )}
      {isEmpty ? (
        <Empty title="No event was found.">
          Events are listed for a limited time, even if no endpoint receives them.
        </Empty>
      ) : (
        <Table
          label="Events"
          columns={what === null ? COLUMNS : FOUND_COLUMNS}
          rows={rows}
          keyOf={({ eventId }) => eventId}
          more={more}
        />
      )}
    </>
  )
}

const CORRELATION = 'Correlation id'

const COLUMNS: readonly Column<ListedEvent>[] = [
  { title: 'Occurred', cell: ({ occurredAt }) => <Time at={occurredAt} /> },
  {
    title: 'Event',
    isWide: true,
    cell: ({ eventId, eventType }) => <EventLink eventId={eventId}>{eventType}</EventLink>,
  },
  { title: 'Agent', cell: ({ agentUri }) => agentUri && <Agent agentUri={agentUri} /> },
  { title: 'With', isOptional: true, cell: ({ number }) => number },
  { title: 'Call', isOptional: true, cell: ({ callId }) => callId && <CallLink callId={callId} /> },
  { title: CORRELATION, isOptional: true, cell: ({ correlationId }) => correlationId },
]

/** Of what was searched for, the list also tells what happened. Only visible rows are looked up. */
const FOUND_COLUMNS: readonly Column<ListedEvent>[] = [
  ...COLUMNS.slice(0, 2),
  { title: 'State', cell: ({ eventId }) => <State eventId={eventId} /> },
  ...COLUMNS.slice(2)
    .filter(({ title }) => title !== CORRELATION)
    .map((column) => ({ ...column, isOptional: true })),
  { title: 'Endpoints', cell: ({ eventId }) => <EndpointProgress eventId={eventId} /> },
]

function State({ eventId }: { readonly eventId: string }) {
  const { data } = useQuery(happenedQuery(eventId))
  return eventState(data?.data ?? {})
}

function EndpointProgress({ eventId }: { readonly eventId: string }) {
  const { data } = useQuery(happenedQuery(eventId))
  if (data === undefined) return null
  const { tone, text } = progressOf(data.subscriptions)
  return <Status tone={tone}>{text}</Status>
}
