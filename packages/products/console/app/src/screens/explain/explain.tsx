import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isMissing } from '../../api/client.ts'
import type { ExplainedEvent, Explanation } from '../../api/model.ts'
import { eventQuery } from '../../api/queries.ts'
import { eventPhrase } from '../../rules/events.ts'
import { toneOfVerdict } from '../../rules/repair.ts'
import { counted, RANK_OF_TONE } from '../../rules/words.ts'
import { Empty, Facts, Id, Json, Panel, QueryState, Screen, Time } from '../../ui/parts.tsx'
import { Verdict } from './verdict.tsx'

const route = getRouteApi('/events/$eventId')

export function Explain() {
  const { eventId } = route.useParams()
  const query = useQuery(eventQuery(eventId))
  const { data, error } = query
  if (isMissing(error))
    return (
      <Screen title="Event">
        <Empty title="There is no record of this event.">
          It does not exist, is too old, or belongs to another tenant.
        </Empty>
      </Screen>
    )
  if (data === undefined) return <QueryState query={query} />
  return (
    <Screen title={data.eventType} lead={<Lead event={data} />}>
      <Verdicts key={eventId} event={data} />
      {data.nextCursor !== null && (
        <p className="muted">There are more endpoints. The API explains them page by page.</p>
      )}
      <Payload event={data} />
    </Screen>
  )
}

function Lead({ event }: { readonly event: ExplainedEvent }) {
  const { eventId, occurredAt, fannedOutAt, data, subscriptions, nextCursor } = event
  const delivered = subscriptions.filter(({ verdict }) => verdict === 'delivered').length
  const phrase = eventPhrase(data ?? {})
  return (
    <>
      <p>
        {phrase !== '' && <strong>{phrase}. </strong>}
        Occurred <Time at={occurredAt ?? fannedOutAt} />.{' '}
        {subscriptions.length > 0 &&
          `Delivered to ${delivered} of ${nextCursor === null ? '' : 'the first '}${counted(subscriptions.length, 'endpoint')}.`}
      </p>
      <p className="muted">
        <Id value={eventId} label="the id of the event" />
      </p>
    </>
  )
}

/** Keeps the order in which endpoints were shown first: a repair must not move another button below the pointer. */
function useFirstOrder(ranked: readonly Explanation[]): readonly Explanation[] {
  const [first] = useState(() => new Map(ranked.map(({ subscriptionId }, at) => [subscriptionId, at])))
  const place = ({ subscriptionId }: Explanation): number => first.get(subscriptionId) ?? first.size
  return ranked.toSorted((a, b) => place(a) - place(b))
}

const rank = ({ verdict }: Explanation): number => RANK_OF_TONE[toneOfVerdict(verdict)]

function Verdicts({ event }: { readonly event: ExplainedEvent }) {
  const ordered = useFirstOrder(event.subscriptions.toSorted((a, b) => rank(a) - rank(b)))
  if (event.subscriptions.length === 0)
    return (
      <Empty title="No endpoint existed when this event occurred.">
        <Link to="/endpoints">Add an endpoint</Link>, then send this event to it.
      </Empty>
    )
  return ordered.map((explanation, index) => (
    <Verdict
      key={explanation.subscriptionId}
      event={event}
      explanation={explanation}
      isOpen={index === 0 || toneOfVerdict(explanation.verdict) === 'bad'}
    />
  ))
}

function Payload({ event: { data } }: { readonly event: ExplainedEvent }) {
  if (data == null)
    return (
      <Panel title="Data">
        <p className="muted">The journal no longer has the data of this event.</p>
      </Panel>
    )
  const { agentUri, callId } = data
  return (
    <Panel title="Data">
      <Facts
        rows={[
          typeof agentUri === 'string' && [
            'Agent',
            <Link to="/events" search={{ q: agentUri }}>
              {agentUri}
            </Link>,
          ],
          typeof callId === 'string' && [
            'Call',
            <Link to="/events" search={{ q: callId }}>
              <code>{callId}</code>
            </Link>,
          ],
        ]}
      />
      <Json value={data} label="the data of the event" />
    </Panel>
  )
}
