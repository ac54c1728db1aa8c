import { useEffect, useRef, useState } from 'react'
import { openStream, type StreamState } from '../live/stream.ts'
import { addRows, MAX_TAIL_ROWS, rowOf, type TailRow } from '../rules/events.ts'
import { count } from '../rules/words.ts'
import { type Filters, useFilters } from '../search-params.ts'
import { optionsOf } from '../ui/fields.tsx'
import { ChoiceFilter, TextFilter } from '../ui/filters.tsx'
import { Button, Empty, Notice, Screen, Status, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { EndpointLink, EventLink } from './links.tsx'

/** The screen is drawn at most this often, however many messages arrive. */
const DRAW_EVERY_MS = 250

const SHOWN = [
  ['', 'Both'],
  ['event', 'Events'],
  ['attempt', 'Attempts'],
] as const

const EVENT_TYPES = optionsOf('Any', ['call.status', 'agent.status'])

export function LiveTail() {
  const [{ show = 'all', eventType, callId, agentUri, subscriptionId }] = useFilters()
  const [isPaused, setPaused] = useState(false)
  const tail = useTail({ eventType, callId, agentUri, subscriptionId }, isPaused)
  const rows = tail.rows.filter(({ kind }) => show === 'all' || kind === show)
  return (
    <Screen
      title="Live"
      lead={
        isPaused ? 'Paused. New messages are kept and shown when you resume.' : 'Events and attempts as they happen.'
      }
      actions={
        <Button kind={isPaused ? 'primary' : 'plain'} onClick={() => setPaused(!isPaused)}>
          {isPaused ? `Resume (${count(tail.held)} new)` : 'Pause'}
        </Button>
      }
    >
      <div className="filters">
        <ChoiceFilter name="show" label="Show" options={SHOWN} />
        <ChoiceFilter name="eventType" label="Event type" options={EVENT_TYPES} />
        <TextFilter name="agentUri" label="Agent" />
        <TextFilter name="callId" label="Call" />
        <TextFilter name="subscriptionId" label="Endpoint id" />
      </div>
      {tail.state === 'unavailable' && (
        <Notice tone="warn">
          There is no live stream: this installation keeps no journal, or too many people of your tenant listen. The
          other screens refresh every 15 seconds.
        </Notice>
      )}
      {rows.length === 0 ? (
        <Empty title={tail.state === 'live' ? 'Waiting for the next message.' : 'Connecting…'} />
      ) : (
        <Table label="Live messages, newest first" columns={COLUMNS} rows={rows} keyOf={({ key }) => key} />
      )}
    </Screen>
  )
}

function useTail(filters: Filters, isPaused: boolean) {
  const [rows, setRows] = useState<readonly TailRow[]>([])
  /** Messages that arrived during the pause. */
  const [held, setHeld] = useState(0)
  const [state, setState] = useState<StreamState>('connecting')
  const waiting = useRef<TailRow[]>([])
  const query = JSON.stringify(filters)

  useEffect(() => {
    waiting.current = []
    setRows([])
    return openStream({
      filters: JSON.parse(query) as Record<string, string>,
      onMessage: (message) => {
        const rows = waiting.current
        rows.push(rowOf(message))
        if (rows.length > 2 * MAX_TAIL_ROWS) rows.splice(0, MAX_TAIL_ROWS)
      },
      onState: setState,
    })
  }, [query])

  useEffect(() => {
    const timer = setInterval(() => {
      setHeld(Math.min(waiting.current.length, MAX_TAIL_ROWS))
      if (isPaused || waiting.current.length === 0) return
      const arrived = waiting.current
      waiting.current = []
      setRows((shown) => addRows(shown, arrived))
    }, DRAW_EVERY_MS)
    return () => clearInterval(timer)
  }, [isPaused])

  return { rows, state, held }
}

const COLUMNS: readonly Column<TailRow>[] = [
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
  { title: 'Message', cell: ({ tone, kind }) => <Status tone={tone}>{kind}</Status> },
  {
    title: 'Event',
    cell: ({ eventId, eventType }) =>
      eventId === null ? eventType : <EventLink eventId={eventId}>{eventType}</EventLink>,
  },
  {
    title: 'Endpoint',
    isOptional: true,
    cell: ({ subscriptionId }) => subscriptionId !== null && <EndpointLink subscriptionId={subscriptionId} />,
  },
  { title: 'What', isWide: true, cell: ({ text }) => <span title={text}>{text}</span> },
]
