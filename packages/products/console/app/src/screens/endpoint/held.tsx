import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { client } from '../../api/client.ts'
import type { Subscription } from '../../api/model.ts'
import { heldTypesQuery, subscriptionQuery } from '../../api/queries.ts'
import { endpointName, isPaused } from '../../rules/endpoints.ts'
import { count, deliveries } from '../../rules/words.ts'
import { CommandDialog } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/fields.tsx'
import { Failure, Time, TimeAfter } from '../../ui/parts.tsx'

interface Props {
  readonly subscription: Subscription
}

export interface EndpointDialogProps extends Props {
  readonly onClose: () => void
}

export function HeldLine({ subscription }: Props) {
  const { mode, held, paused, pausedUntil } = subscription
  return (
    <p>
      {mode === 'pull' && <Receivers subscription={subscription} />}
      {paused !== true && isPaused(subscription) && (
        <TimeAfter words="It resumes automatically at" at={pausedUntil} end=". " />
      )}
      {held.count > 0 && (
        <>
          {deliveries(held.count)} held
          {held.leased > 0 && `, ${count(held.leased)} of them with a client`}
          <TimeAfter words="; the first was due" at={held.oldestAt} ago />.
        </>
      )}
    </p>
  )
}

function Receivers({ subscription: { held, receivers } }: Props) {
  if (receivers.length === 0)
    return (
      <>
        No client receives
        <TimeAfter words="; the last one asked" at={held.lastReceivedAt} ago />.{' '}
      </>
    )
  return (
    <>
      Received by{' '}
      {receivers.map(({ clientId, since }, i) => (
        <Fragment key={clientId}>
          {i > 0 && ', '}
          <strong>{clientId}</strong> since <Time at={since} />
        </Fragment>
      ))}
      .{' '}
    </>
  )
}

const PAUSES = [
  ['0', 'Until I resume it'],
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['14400', '4 hours'],
  ['86400', '24 hours'],
] as const

export function PauseDialog({ subscription, onClose }: EndpointDialogProps) {
  const pause = async (seconds: number) =>
    client.subscriptions.change(
      subscription.id,
      seconds === 0
        ? { paused: true }
        : { pausedUntil: new Date((await serverTime(subscription.id)) + seconds * 1_000).toISOString() },
    )
  return (
    <CommandDialog
      title="Pause the endpoint?"
      submitLabel="Pause"
      onClose={onClose}
      run={(form) => pause(Number(form.get('seconds')))}
      done={({ warnings }) => warnings.find(({ code }) => code === 'pause-over')?.detail ?? 'The endpoint is paused.'}
    >
      <p>
        {subscription.mode === 'pull' ? 'Clients receive nothing' : 'Nothing is sent to it'}: deliveries are held, and
        follow when it is resumed. Of more than {count(subscription.parked.limit)} held deliveries, the oldest are
        parked.
      </p>
      <Choice label="For" name="seconds" defaultValue="0" options={PAUSES} />
    </CommandDialog>
  )
}

/** The clock of this computer may be wrong. In ms since 1970. */
async function serverTime(id: string): Promise<number> {
  let date: string | null = null
  await client.subscriptions.read(id, { onAnswer: ({ headers }) => (date = headers.get('date')) })
  return Date.parse(date ?? '') || Date.now()
}

/** What will be sent is shown before anything is sent. */
export function ResumeDialog({ subscription: shown, onClose }: EndpointDialogProps) {
  // Read again: what the page shows can be some seconds old.
  const { data: subscription = shown } = useQuery({ ...subscriptionQuery(shown.id), refetchOnMount: 'always' })
  const found = subscription.held.count
  return (
    <CommandDialog
      title="Resume the endpoint?"
      submitLabel={found === 0 || subscription.mode === 'pull' ? 'Resume' : `Resume and send ${deliveries(found)}`}
      onClose={onClose}
      run={() => client.subscriptions.change(shown.id, { paused: false, pausedUntil: null })}
      done={() => 'The endpoint is resumed.'}
    >
      <div role="status">{found === 0 ? <p>No delivery is held.</p> : <WhatFollows subscription={subscription} />}</div>
    </CommandDialog>
  )
}

function WhatFollows({ subscription }: Props) {
  const { held, mode } = subscription
  const types = useQuery(heldTypesQuery(subscription.id))
  return (
    <>
      <p>
        {mode === 'pull' ? 'Clients can then receive ' : 'This sends '}
        <strong>{deliveries(held.count)}</strong>
        {mode === 'post' && (
          <>
            {' '}
            to <strong>{endpointName(subscription)}</strong>
          </>
        )}
        , the oldest first
        <TimeAfter words=": it was due" at={held.oldestAt} />.
        {mode === 'post' && ' It begins with 100 a second, speeds up, and waits while the endpoint fails.'}
      </p>
      {types.error && <Failure error={types.error} retry={() => void types.refetch()} />}
      {types.data && types.data.looked > 0 && (
        <p>
          {types.data.looked < held.count && `Of the latest ${count(types.data.looked)}: `}
          {types.data.counts.map(([type, n], i) => (
            <Fragment key={type}>
              {i > 0 && ', '}
              {count(n)} <code>{type}</code>
            </Fragment>
          ))}
        </p>
      )}
    </>
  )
}
