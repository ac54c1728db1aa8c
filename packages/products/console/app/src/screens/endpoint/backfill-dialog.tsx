import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { EventType, Recovery, RecoveryCount } from '../../api/model.ts'
import { eventTypesQuery } from '../../api/queries.ts'
import { counted } from '../../rules/words.ts'
import { CommandDialog } from '../../ui/dialog.tsx'
import { Choice, Moment, optionsOf } from '../../ui/fields.tsx'
import { Notice, Time } from '../../ui/parts.tsx'
import type { EndpointDialogProps } from './held.tsx'

const HOUR_MS = 3_600_000

const PERIODS = [
  ['1', 'The last hour'],
  ['6', 'The last 6 hours'],
  ['24', 'The last 24 hours'],
  ['', 'From … to …'],
] as const

/** Sends earlier events to an endpoint that was created or enabled later: counts first, then sends. */
export function BackfillDialog({ subscription, onClose }: EndpointDialogProps) {
  const navigate = useNavigate()
  // The end is fixed when the dialog opens, so that the count is true for what is sent.
  const [nowMs] = useState(Date.now)
  const [hours, setHours] = useState('1')
  const [range, setRange] = useState({ from: momentAt(nowMs - HOUR_MS), to: momentAt(nowMs) })
  const [eventType, setEventType] = useState('')
  const { data: known } = useQuery(eventTypesQuery)
  const types = subscription.eventTypes.includes('*')
    ? (known?.items ?? []).map(({ type }) => type)
    : subscription.eventTypes
  const { from, to } = hours === '' ? range : { from: momentAt(nowMs - Number(hours) * HOUR_MS), to: momentAt(nowMs) }
  const wish = { from, to, ...(eventType !== '' && { eventTypes: [eventType as EventType] }) }
  const isPeriod = from !== '' && from < to
  const key = JSON.stringify(wish)
  const [last, setLast] = useState<{ readonly key: string; readonly found: RecoveryCount }>()
  // Another choice needs another count.
  const found = last?.key === key ? last.found : undefined
  const countOrSend = async (): Promise<Recovery | undefined> => {
    if (found !== undefined) return client.subscriptions.backfill(subscription.id, wish)
    setLast({ key, found: await client.subscriptions.previewBackfill(subscription.id, wish) })
    return undefined
  }
  return (
    <CommandDialog
      title="Backfill"
      submitLabel={labelOf(found?.count)}
      onClose={onClose}
      isBusy={found?.count === 0 || !isPeriod}
      run={countOrSend}
      done={(begun) => (begun ? 'The backfill has begun.' : '')}
      onDone={(begun) =>
        begun && void navigate({ to: '/recoveries/$recoveryId', params: { recoveryId: begun.recoveryId } })
      }
    >
      <p>
        Sends events of the past that did not go to this endpoint, as far as the journal still has them. Nothing is sent
        before you have seen their number.
      </p>
      <Choice label="Period" value={hours} options={PERIODS} onChange={setHours} />
      {hours === '' && (
        <div className="field-pair">
          <Moment label="From" value={from} onChange={(from) => setRange({ from, to })} />
          <Moment label="To" value={to} onChange={(to) => setRange({ from, to })} />
        </div>
      )}
      {!isPeriod && <Notice tone="warn">Choose a beginning and a later end.</Notice>}
      <Choice
        label="Event type"
        value={eventType}
        options={optionsOf('All types of this endpoint', types)}
        onChange={setEventType}
      />
      {found && <WhatWillHappen found={found} />}
    </CommandDialog>
  )
}

function labelOf(found: number | undefined): string {
  if (found === undefined) return 'Count the events'
  return found === 0 ? 'Nothing to send' : `Send ${counted(found, 'event')}`
}

const momentAt = (atMs: number): string => new Date(atMs).toISOString()

function WhatWillHappen({ found }: { readonly found: RecoveryCount }) {
  const { count, oldest, newest, withoutBody, unknown = 0 } = found
  return (
    <p role="status">
      {count === 0 ? (
        unknown === 0 &&
        'Nothing is missing: each event of this period went to this endpoint, or is no longer in the journal.'
      ) : (
        <>
          This sends <strong>{counted(count, 'event')}</strong> from <Time at={oldest} /> to <Time at={newest} />. It
          pauses while the endpoint fails, and can be cancelled.
        </>
      )}
      {withoutBody > 0 &&
        ` ${counted(withoutBody, 'event')} cannot be sent: the journal does not keep data over 16 KiB.`}
      {unknown > 0 &&
        ` ${counted(unknown, 'event')} went to more than 100 endpoints; the journal does not show whether this one got them, so they are not sent.`}
    </p>
  )
}
