import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { RotatedSecret, Subscription } from '../../api/model.ts'
import { endpointName } from '../../rules/attention.ts'
import { changedFields } from '../../rules/changed-fields.ts'
import { isPaused } from '../../rules/endpoint-state.ts'
import { counted } from '../../rules/words.ts'
import { usePerson } from '../../session/person.ts'
import { CommandDialog, Dialog, FormDialog } from '../../ui/dialog.tsx'
import { Field, Options } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { useAction } from '../../ui/use-action.ts'
import { RecoverDialog } from '../recover-dialog.tsx'
import { BackfillDialog } from './backfill-dialog.tsx'
import { fieldsOf } from './create-dialog.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { PauseDialog, ResumeDialog } from './held.tsx'
import { SecretOnce } from './secret-once.tsx'

type Open = 'edit' | 'pause' | 'disable' | 'rotate' | 'delete' | 'recover' | 'backfill' | null

/** What can be done with an endpoint. What a click would do is said before it is done. */
export function EndpointActions({ subscription }: { readonly subscription: Subscription }) {
  const [open, setOpen] = useState<Open>(null)
  const { refusal } = usePerson()
  const close = (): void => setOpen(null)
  const enable = useAction({
    run: () => client.subscriptions.change(subscription.id, { enabled: true }),
    done: () => 'The endpoint is enabled.',
  })
  return (
    <>
      {subscription.parked.count > 0 && (
        <Button kind="primary" refusal={refusal('operator')} onClick={() => setOpen('recover')}>
          Recover parked
        </Button>
      )}
      <Button refusal={refusal('operator')} onClick={() => setOpen('backfill')}>
        Backfill
      </Button>
      <Button refusal={refusal('admin')} onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button refusal={refusal('admin')} onClick={() => setOpen('rotate')}>
        Rotate secret
      </Button>
      <Button refusal={refusal('admin')} onClick={() => setOpen('pause')}>
        {isPaused(subscription) ? 'Resume' : 'Pause'}
      </Button>
      {subscription.enabled ? (
        <Button refusal={refusal('admin')} onClick={() => setOpen('disable')}>
          Disable
        </Button>
      ) : (
        <Button refusal={refusal('admin')} isBusy={enable.isPending} onClick={() => enable.mutate(undefined)}>
          Enable
        </Button>
      )}
      <Button kind="danger" refusal={refusal('admin')} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'recover' && (
        <RecoverDialog subscriptionId={subscription.id} name={endpointName(subscription)} onClose={close} />
      )}
      {open === 'backfill' && <BackfillDialog subscription={subscription} onClose={close} />}
      {open === 'edit' && <EditDialog subscription={subscription} onClose={close} />}
      {open === 'rotate' && <RotateDialog subscription={subscription} onClose={close} />}
      {open === 'pause' && <PauseOrResume subscription={subscription} onClose={close} />}
      {open === 'disable' && <DisableDialog subscription={subscription} onClose={close} />}
      {open === 'delete' && <DeleteDialog subscription={subscription} onClose={close} />}
    </>
  )
}

interface DialogProps {
  readonly subscription: Subscription
  readonly onClose: () => void
}

/** What the dialog was opened for stays: a pause can end while it is open. */
function PauseOrResume(props: DialogProps) {
  const [Chosen] = useState(() => (isPaused(props.subscription) ? ResumeDialog : PauseDialog))
  return <Chosen {...props} />
}

function EditDialog({ subscription, onClose }: DialogProps) {
  // The screen is read again while the dialog is open, and its fields keep what they were opened with.
  const [opened] = useState(subscription)
  return (
    <CommandDialog
      title="Edit the endpoint"
      submitLabel="Save"
      onClose={onClose}
      run={(form) => change(opened, fieldsOf(form, opened))}
      done={changeDone}
    >
      <EndpointFields subscription={opened} />
      <p className="hint">Deliveries that are waiting for a retry keep the old URL.</p>
    </CommandDialog>
  )
}

/** Sends what differs from what the dialog showed. Null: nothing does. */
async function change(opened: Subscription, fields: ReturnType<typeof fieldsOf>): Promise<Subscription | null> {
  const changed = changedFields(fields, opened)
  if (Object.keys(changed).length === 0) return null
  // Headers go with their URL: another person may have moved the endpoint to a host that must not get them.
  return client.subscriptions.change(opened.id, {
    ...changed,
    ...(changed.headers !== undefined && { url: fields.url }),
  })
}

const changeDone = (changed: Subscription | null): string =>
  changed === null
    ? 'Nothing was changed.'
    : ['The endpoint was changed.', ...changed.warnings.map(({ detail }) => detail)].join(' ')

const OVERLAPS = [
  ['3600', '1 hour'],
  ['86400', '24 hours'],
  ['604800', '7 days'],
  ['0', 'Not at all: the secret has leaked'],
] as const

function RotateDialog({ subscription, onClose }: DialogProps) {
  const [rotated, setRotated] = useState<RotatedSecret>()
  const rotate = useAction({
    run: (overlapSeconds: number) => client.subscriptions.rotateSecret(subscription.id, { overlapSeconds }),
    onDone: setRotated,
    showsErrors: true,
  })
  if (rotated !== undefined)
    return (
      <Dialog staysOpen title="The secret was rotated" onClose={onClose}>
        <SecretOnce secret={rotated.secret} />
        <div className="dialog-buttons">
          <Button kind="primary" onClick={onClose}>
            I have stored the secret
          </Button>
        </div>
      </Dialog>
    )
  return (
    <FormDialog
      title="Rotate the secret"
      submitLabel="Create a new secret"
      staysOpen={rotate.isPending}
      onClose={onClose}
      isBusy={rotate.isPending}
      error={rotate.error}
      onSubmit={(form) => rotate.mutate(Number(form.get('overlap')))}
    >
      <p>
        All deliveries are signed with the new secret from now on. While the old one also signs, a receiver accepts
        both, and you can replace it without a pause.
      </p>
      <Field label="The old secret keeps signing for">
        <select name="overlap" defaultValue="86400">
          <Options of={OVERLAPS} />
        </select>
      </Field>
    </FormDialog>
  )
}

function DisableDialog({ subscription, onClose }: DialogProps) {
  return (
    <CommandDialog
      title="Disable the endpoint?"
      submitLabel="Disable"
      kind="danger"
      onClose={onClose}
      run={() => client.subscriptions.change(subscription.id, { enabled: false })}
      done={() => 'The endpoint is disabled.'}
    >
      <p>
        It receives no new events until it is enabled again. Events of that time are not sent later by themselves; use a
        backfill. Deliveries that have failed already are still retried.
      </p>
    </CommandDialog>
  )
}

function DeleteDialog({ subscription, onClose }: DialogProps) {
  const navigate = useNavigate()
  const parked = subscription.parked.count
  return (
    <CommandDialog
      title="Delete the endpoint?"
      submitLabel="Delete for good"
      kind="danger"
      onClose={onClose}
      run={() => client.subscriptions.delete(subscription.id)}
      done={() => 'The endpoint was deleted.'}
      onDone={() => void navigate({ to: '/endpoints' })}
    >
      <p>
        New deliveries to <strong className="url">{endpointName(subscription)}</strong> stop immediately. This cannot be
        undone: the secret is lost.
      </p>
      <p>
        {parked === 0
          ? 'No parked delivery is lost.'
          : `${counted(parked, 'parked delivery', 'parked deliveries')} can no longer be recovered.`}
      </p>
    </CommandDialog>
  )
}
