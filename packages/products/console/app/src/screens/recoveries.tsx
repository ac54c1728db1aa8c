import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client, isMissing } from '../api/client.ts'
import type { Recovery } from '../api/model.ts'
import { namesQuery, recoveriesQuery, recoveryQuery } from '../api/queries.ts'
import { count, counted, deliveries, recoveryWait, toneOfState } from '../rules/words.ts'
import { RoleButton } from '../ui/action.tsx'
import { CommandDialog } from '../ui/dialog.tsx'
import { Empty, Facts, Id, Panel, QueryState, Screen, Status, Tile, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { EndpointLink } from './links.tsx'

export function Recoveries() {
  const query = useQuery(recoveriesQuery)
  const { data } = query
  return (
    <Screen title="Recoveries" lead="A recovery sends parked deliveries again; a backfill sends earlier events.">
      <QueryState query={query} />
      {data?.items.length === 0 && (
        <Empty title="There was no recovery yet.">
          Start one from <Link to="/parked">parked deliveries</Link> or from an endpoint.
        </Empty>
      )}
      <Table label="Recoveries" columns={COLUMNS} rows={data?.items ?? []} keyOf={({ recoveryId }) => recoveryId} />
    </Screen>
  )
}

const COLUMNS: readonly Column<Recovery>[] = [
  {
    title: 'Started',
    cell: ({ recoveryId, startedAt }) => (
      <Link to="/recoveries/$recoveryId" params={{ recoveryId }} className="row-link">
        <Time at={startedAt} />
      </Link>
    ),
  },
  { title: 'Endpoint', isWide: true, cell: ({ subscriptionId }) => <EndpointLink subscriptionId={subscriptionId} /> },
  { title: 'Kind', isOptional: true, cell: ({ kind }) => kind ?? 'recovery' },
  { title: 'State', cell: ({ state }) => <Status tone={toneOfState(state)}>{state}</Status> },
  { title: 'Sent', align: 'end', cell: ({ sent }) => count(sent) },
  { title: 'Remaining', align: 'end', isOptional: true, cell: ({ remaining }) => count(remaining) },
]

const route = getRouteApi('/recoveries/$recoveryId')

export function RecoveryScreen() {
  const { recoveryId } = route.useParams()
  const query = useQuery(recoveryQuery(recoveryId))
  const { data, error } = query
  const { data: names } = useQuery(namesQuery)
  if (isMissing(error))
    return (
      <Screen title="Recovery">
        <Empty title="There is no such recovery." />
      </Screen>
    )
  if (data === undefined) return <QueryState query={query} />
  const kind = data.kind === 'backfill' ? 'Backfill' : 'Recovery'
  const name = names?.get(data.subscriptionId)
  const title = name === undefined ? kind : `${kind} of ${name}`
  return (
    <Screen title={title} lead={<Lead recovery={data} />} actions={<Cancel recovery={data} />}>
      <Progress recovery={data} />
      <Panel title="Details">
        <Facts
          rows={[
            [
              'Endpoint',
              <EndpointLink subscriptionId={data.subscriptionId} className="">
                <code>{data.subscriptionId}</code>
              </EndpointLink>,
            ],
            ['Recovery', <Id value={data.recoveryId} label="the id of the recovery" />],
            data.kind !== 'backfill' && ['Reason', data.reason ?? 'exhausted and rejected'],
            ['Event types', data.eventTypes?.join(', ') ?? 'all'],
            data.from != null && ['From', <Time at={data.from} />],
            data.to != null && ['To', <Time at={data.to} />],
            [
              'At most per second',
              data.maxPerSecond === null ? 'as the installation allows' : count(data.maxPerSecond),
            ],
            [
              'Started',
              <>
                <Time at={data.startedAt} />
                {data.startedBy === 'recoverRejected' && ', automatically after a 2xx'}
              </>,
            ],
            ['Ended', <Time at={data.endedAt} />],
          ]}
        />
      </Panel>
    </Screen>
  )
}

const ENDS: Readonly<Record<string, string>> = {
  requested: 'It was cancelled on request.',
  'subscription-deleted': 'It ended because the endpoint was deleted.',
  'no-progress': 'It ended because it made no progress for too long.',
  'parked-again': 'It ended because a delivery was parked meanwhile. Another one starts after the next 2xx.',
}

function Lead({ recovery }: { readonly recovery: Recovery }) {
  const { state, waitingFor, cancelledBecause, remaining, parkedSince } = recovery
  const isInVain = state === 'done' && parkedSince > 0
  return (
    <p role="status">
      <Status tone={isInVain ? 'warn' : toneOfState(state)}>{state}</Status>{' '}
      {state === 'running' && `${deliveries(remaining)} to go.`}
      {state === 'paused' &&
        waitingFor !== null &&
        `It waits for ${recoveryWait(waitingFor)}, then continues automatically.`}
      {state === 'done' && 'Every delivery was sent again.'}
      {isInVain && (
        <>
          {' '}
          {counted(parkedSince, 'delivery was', 'deliveries were')} parked since it began:{' '}
          <Link to="/parked">show why</Link>.
        </>
      )}
      {cancelledBecause !== null && ENDS[cancelledBecause]}
    </p>
  )
}

function Progress({ recovery }: { readonly recovery: Recovery }) {
  const { found, sent, skipped, failed, remaining, perSecond, parkedSince, state } = recovery
  const done = found - remaining
  return (
    <>
      <progress max={Math.max(found, 1)} value={state === 'done' ? Math.max(found, 1) : done} aria-label="Progress">
        {count(done)} of {count(found)}
      </progress>
      <dl className="tiles">
        <Tile label="Sent" value={count(sent)} note={`of ${count(found)} found`} />
        <Tile label="Remaining" value={count(remaining)} />
        <Tile label="Pace" value={`${count(perSecond)} / s`} note="now" />
        <Tile label="Skipped" value={count(skipped)} note="no longer needed" />
        <Tile label="Not sent" value={count(failed)} tone={failed > 0 ? 'bad' : 'quiet'} />
        <Tile
          label="Parked since"
          value={count(parkedSince)}
          note="not part of this"
          tone={parkedSince > 0 ? 'warn' : 'quiet'}
        />
      </dl>
    </>
  )
}

function Cancel({ recovery }: { readonly recovery: Recovery }) {
  const [isAsking, setAsking] = useState(false)
  if (recovery.endedAt !== null) return null
  return (
    <>
      <RoleButton kind="danger" needs="operator" onClick={() => setAsking(true)}>
        Cancel
      </RoleButton>
      {isAsking && (
        <CommandDialog
          title="Cancel the recovery?"
          submitLabel="Cancel the recovery"
          kind="danger"
          onClose={() => setAsking(false)}
          run={() => client.recoveries.cancel(recovery.recoveryId)}
          done={() => 'The recovery was cancelled.'}
        >
          <p>
            {deliveries(recovery.remaining)} stay parked. What was sent stays sent. You can start a new recovery at any
            time.
          </p>
        </CommandDialog>
      )}
    </>
  )
}
