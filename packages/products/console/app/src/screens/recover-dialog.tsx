import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../api/client.ts'
import type { EventType, RecoveryCount, RecoveryInput } from '../api/model.ts'
import { eventTypesQuery } from '../api/queries.ts'
import { deliveries } from '../rules/words.ts'
import { CommandDialog } from '../ui/dialog.tsx'
import { Choice, Input, numberIn, optionsOf } from '../ui/fields.tsx'
import { Failure, Time } from '../ui/parts.tsx'

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

/** Sends parked deliveries again. The count is shown before anything is sent. */
export function RecoverDialog({ subscriptionId, name, reason: startReason = '', onClose }: RecoverDialogProps) {
  const navigate = useNavigate()
  const [reason, setReason] = useState(startReason)
  const [eventType, setEventType] = useState('')
  const { data: eventTypes } = useQuery(eventTypesQuery)
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
      onDone={({ recoveryId }) => void navigate({ to: '/recoveries/$recoveryId', params: { recoveryId } })}
    >
      <Choice label="Which" value={reason} options={REASONS} onChange={setReason} />
      <Choice
        label="Event type"
        value={eventType}
        options={optionsOf('All', eventTypes?.items.map(({ type }) => type) ?? [])}
        onChange={setEventType}
      />
      <Input
        label="At most, per second"
        hint="Empty: as fast as the installation allows. It always starts slowly."
        name="maxPerSecond"
        type="number"
        min={1}
        max={1000}
      />
      {counting.error && <Failure error={counting.error} retry={() => void counting.refetch()} />}
      {counting.data && <WhatWillHappen found={counting.data} name={name} />}
    </CommandDialog>
  )
}

function WhatWillHappen({ found, name }: { readonly found: RecoveryCount; readonly name: string }) {
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
