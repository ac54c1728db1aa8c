import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../api/client.ts'
import type { EventType, Recovery, RecoveryCount, RecoveryInput } from '../api/model.ts'
import { eventTypesQuery } from '../api/queries.ts'
import { counted, deliveries } from '../rules/words.ts'
import { CommandDialog } from '../ui/dialog.tsx'
import { Choice, Input, Moment, numberIn, optionsOf } from '../ui/fields.tsx'
import { Failure, Notice, Time } from '../ui/parts.tsx'
import type { EndpointDialogProps } from './endpoint/held.tsx'

const REASONS = [
  ['', 'All parked deliveries'],
  ['exhausted', 'Exhausted: the endpoint was away for too long'],
  ['rejected', 'Rejected: the endpoint refused them'],
] as const

interface RecoverDialogProps {
  readonly subscriptionId: string
  /** Of the endpoint. */
  readonly name: string
  readonly reason?: string
  readonly onClose: () => void
}

export function RecoverDialog({ subscriptionId, name, reason: startReason = '', onClose }: RecoverDialogProps) {
  const toRecovery = useToRecovery()
  const [reason, setReason] = useState(startReason)
  const [eventType, setEventType] = useState('')
  const { data: known } = useQuery(eventTypesQuery)
  const types = known?.items.map(({ type }) => type) ?? []
  const wish: RecoveryInput = {
    ...(reason !== '' && { reason: reason as 'exhausted' | 'rejected' }),
    ...(eventType !== '' && { eventTypes: [eventType as EventType] }),
  }
  const counting = useQuery({
    // Not of the group `delivery`, because the stream would count again each second.
    queryKey: ['recovery-count', subscriptionId, reason, eventType],
    queryFn: () => client.subscriptions.previewRecovery(subscriptionId, wish),
  })
  const found = counting.data?.count
  return (
    <CommandDialog
      title="Recover parked deliveries"
      submitLabel={found ? `Send ${deliveries(found)} again` : 'Send again'}
      onClose={onClose}
      isBusy={!found}
      run={(form) =>
        client.subscriptions.recover(subscriptionId, { ...wish, maxPerSecond: numberIn(form, 'maxPerSecond') })
      }
      done={() => 'The recovery has begun.'}
      onDone={toRecovery}
    >
      <Choice label="Which" value={reason} options={REASONS} onChange={setReason} />
      <Choice label="Event type" value={eventType} options={optionsOf('All', types)} onChange={setEventType} />
      <Input
        label="At most, per second"
        hint="Empty: as fast as the installation allows. It always starts slowly."
        name="maxPerSecond"
        type="number"
        min={1}
        max={1000}
      />
      {counting.error && <Failure error={counting.error} retry={() => void counting.refetch()} />}
      {counting.data && <WhatIsRecovered found={counting.data} name={name} />}
    </CommandDialog>
  )
}

function useToRecovery() {
  const navigate = useNavigate()
  return ({ recoveryId }: Recovery) => void navigate({ to: '/recoveries/$recoveryId', params: { recoveryId } })
}

function WhatIsRecovered({ found, name }: { readonly found: RecoveryCount; readonly name: string }) {
  const { count, oldest, newest, withoutBody } = found
  return (
    <p role="status">
      {count === 0 ? (
        'There is nothing to send.'
      ) : (
        <>
          This sends <strong>{deliveries(count)}</strong> to <strong>{name}</strong>, parked between{' '}
          <Time at={oldest} /> and <Time at={newest} />. It pauses while the endpoint fails, and can be cancelled.
        </>
      )}
      {withoutBody > 0 && ` ${deliveries(withoutBody)} cannot be sent: the body is no longer kept.`}
    </p>
  )
}

const HOUR_MS = 3_600_000

const PERIODS = [
  ['1', 'The last hour'],
  ['6', 'The last 6 hours'],
  ['24', 'The last 24 hours'],
  ['', 'From … to …'],
] as const

export function BackfillDialog({ subscription, onClose }: EndpointDialogProps) {
  const toRecovery = useToRecovery()
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
      onDone={(begun) => begun && toRecovery(begun)}
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
      {found && <WhatIsBackfilled found={found} />}
    </CommandDialog>
  )
}

function labelOf(found: number | undefined): string {
  if (found === undefined) return 'Count the events'
  return found === 0 ? 'Nothing to send' : `Send ${counted(found, 'event')}`
}

const momentAt = (atMs: number): string => new Date(atMs).toISOString()

function WhatIsBackfilled({ found }: { readonly found: RecoveryCount }) {
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
