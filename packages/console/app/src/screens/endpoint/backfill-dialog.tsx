import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { countBackfill, startBackfill } from '../../api/commands.ts'
import type { Subscription } from '../../api/model.ts'
import { counted } from '../../rules/words.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/fields.tsx'
import { useAction } from '../../ui/use-action.ts'

const PERIODS = [
  ['1', 'the last hour'],
  ['6', 'the last 6 hours'],
  ['24', 'the last 24 hours'],
] as const

/** Sends earlier events to an endpoint that was created or enabled later: counts first, then sends. */
export function BackfillDialog({
  subscription,
  onClose,
}: {
  readonly subscription: Subscription
  readonly onClose: () => void
}) {
  const navigate = useNavigate()
  const [hours, setHours] = useState('1')
  // The end is fixed when the dialog opens, so that the count is true for what is sent.
  const [nowMs] = useState(Date.now)
  const wishFor = (hours: string) => ({
    from: new Date(nowMs - Number(hours) * 3_600_000).toISOString(),
    to: new Date(nowMs).toISOString(),
  })
  const counting = useAction({
    run: (hours: string) => countBackfill(subscription.id, wishFor(hours)),
    showsErrors: true,
  })
  const start = useAction({
    run: () => startBackfill(subscription.id, wishFor(hours)),
    done: () => 'The backfill has begun.',
    onDone: ({ recoveryId }) => void navigate({ to: '/recoveries/$recoveryId', params: { recoveryId } }),
    showsErrors: true,
  })
  const found = counting.data?.count
  return (
    <FormDialog
      title="Backfill"
      submitLabel={found === undefined ? 'Count the events' : `Send ${counted(found, 'event')}`}
      onClose={onClose}
      isBusy={counting.isPending || start.isPending || found === 0}
      error={counting.error ?? start.error}
      onSubmit={() => (found === undefined ? counting.mutate(hours) : start.mutate(undefined))}
    >
      <p>Sends events of the past to this endpoint, as far as the journal still has them: only its event types.</p>
      <Field label="Events of">
        <select
          value={hours}
          onChange={(event) => {
            setHours(event.target.value)
            counting.reset()
          }}
        >
          {PERIODS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {found === 0 && <p role="status">The journal has no such event.</p>}
    </FormDialog>
  )
}
