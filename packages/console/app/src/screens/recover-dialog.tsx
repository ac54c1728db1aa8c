import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { countRecovery, startRecovery } from '../api/commands.ts'
import type { NewRecovery, RecoveryCount } from '../api/model.ts'
import { counted } from '../rules/words.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { Field } from '../ui/fields.tsx'
import { Failure, Time } from '../ui/parts.tsx'
import { useAction } from '../ui/use-action.ts'

/** Sends parked deliveries again. The count of the dry run is shown before anything is sent. */
export function RecoverDialog({
  subscriptionId,
  reason: startReason = '',
  onClose,
}: {
  readonly subscriptionId: string
  readonly reason?: string
  readonly onClose: () => void
}) {
  const navigate = useNavigate()
  const [reason, setReason] = useState(startReason)
  const [maxPerSecond, setMaxPerSecond] = useState('')
  const wish: NewRecovery = {
    ...(reason !== '' && { reason: reason as 'exhausted' | 'rejected' }),
    ...(Number(maxPerSecond) > 0 && { maxPerSecond: Number(maxPerSecond) }),
  }
  const counting = useQuery({
    queryKey: ['delivery', 'recovery-count', subscriptionId, reason],
    queryFn: () => countRecovery(subscriptionId, wish),
  })
  const start = useAction({
    run: () => startRecovery(subscriptionId, wish),
    done: () => 'The recovery has begun.',
    onDone: ({ recoveryId }) => void navigate({ to: '/recoveries/$recoveryId', params: { recoveryId } }),
    showsErrors: true,
  })
  const found = counting.data?.count
  return (
    <FormDialog
      title="Recover parked deliveries"
      submitLabel={found === undefined ? 'Send again' : `Send ${counted(found, 'delivery', 'deliveries')} again`}
      onClose={onClose}
      isBusy={start.isPending || found === undefined || found === 0}
      error={start.error}
      onSubmit={() => start.mutate(undefined)}
    >
      <Field label="Which">
        <select value={reason} onChange={(event) => setReason(event.target.value)}>
          <option value="">All parked deliveries</option>
          <option value="exhausted">Exhausted: the endpoint was away for too long</option>
          <option value="rejected">Rejected: the endpoint refused them</option>
        </select>
      </Field>
      <Field label="At most, per second" hint="Empty: as fast as the installation allows. It always starts slowly.">
        <input
          type="number"
          min={1}
          max={1000}
          value={maxPerSecond}
          onChange={(event) => setMaxPerSecond(event.target.value)}
        />
      </Field>
      {counting.error && <Failure error={counting.error} retry={() => void counting.refetch()} />}
      {counting.data && <WhatWillHappen found={counting.data} />}
    </FormDialog>
  )
}

function WhatWillHappen({ found: { count, oldest, newest, withoutBody } }: { readonly found: RecoveryCount }) {
  return (
    <p role="status">
      {count === 0 ? (
        'There is nothing to send.'
      ) : (
        <>
          This sends <strong>{counted(count, 'delivery', 'deliveries')}</strong>, parked between <Time at={oldest} />{' '}
          and <Time at={newest} />. It waits by itself while the endpoint fails, and can be cancelled.
        </>
      )}
      {withoutBody > 0 &&
        ` ${counted(withoutBody, 'delivery', 'deliveries')} cannot be sent: the body is no longer kept.`}
    </p>
  )
}
