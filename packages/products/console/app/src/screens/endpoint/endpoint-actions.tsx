import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { Role, RotatedSecret, Subscription } from '../../api/model.ts'
import { endpointName, isPaused } from '../../rules/endpoints.ts'
import { changedFields } from '../../rules/form.ts'
import { counted } from '../../rules/words.ts'
import { RoleButton, useAction } from '../../ui/action.tsx'
import { CommandDialog } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/fields.tsx'
import type { ButtonKind } from '../../ui/parts.tsx'
import { BackfillDialog, RecoverDialog } from '../recover-dialogs.tsx'
import { fieldsOf, SecretDialog } from './create-dialog.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { type EndpointDialogProps, PauseDialog, ResumeDialog } from './held.tsx'

export function EndpointActions({ subscription }: { readonly subscription: Subscription }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null)
  const enable = useAction({
    run: () => client.subscriptions.change(subscription.id, { enabled: true }),
    done: () => 'The endpoint is enabled.',
  })
  const opening = (dialog: keyof typeof DIALOGS, role: Role, label: string, kind: ButtonKind = 'plain') => (
    <RoleButton kind={kind} needs={role} onClick={() => setOpen(dialog)}>
      {label}
    </RoleButton>
  )
  const Opened = open && DIALOGS[open]
  return (
    <>
      {subscription.parked.count > 0 && opening('recover', 'operator', 'Recover parked', 'primary')}
      {opening('backfill', 'operator', 'Backfill')}
      {opening('edit', 'admin', 'Edit')}
      {opening('rotate', 'admin', 'Rotate secret')}
      {opening('pause', 'admin', isPaused(subscription) ? 'Resume' : 'Pause')}
      {subscription.enabled ? (
        opening('disable', 'admin', 'Disable')
      ) : (
        <RoleButton needs="admin" isBusy={enable.isPending} onClick={() => enable.mutate(undefined)}>
          Enable
        </RoleButton>
      )}
      {opening('delete', 'admin', 'Delete', 'danger')}
      {Opened && <Opened subscription={subscription} onClose={() => setOpen(null)} />}
    </>
  )
}

const RecoverParked = ({ subscription, onClose }: EndpointDialogProps) => (
  <RecoverDialog subscriptionId={subscription.id} name={endpointName(subscription)} onClose={onClose} />
)

/** What the dialog was opened for stays: a pause can end while it is open. */
function PauseOrResume(props: EndpointDialogProps) {
  const [Chosen] = useState(() => (isPaused(props.subscription) ? ResumeDialog : PauseDialog))
  return <Chosen {...props} />
}

function EditDialog({ subscription, onClose }: EndpointDialogProps) {
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
async function change(opened: Subscription, fields: ReturnType<typeof fieldsOf>) {
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

function RotateDialog({ subscription, onClose }: EndpointDialogProps) {
  const [rotated, setRotated] = useState<RotatedSecret>()
  if (rotated !== undefined)
    return <SecretDialog title="The secret was rotated" secret={rotated.secret} onClose={onClose} />
  return (
    <CommandDialog
      title="Rotate the secret"
      submitLabel="Create a new secret"
      onClose={onClose}
      run={(form) =>
        client.subscriptions.rotateSecret(subscription.id, { overlapSeconds: Number(form.get('overlap')) })
      }
      onDone={setRotated}
    >
      <p>
        All deliveries are signed with the new secret from now on. While the old one also signs, a receiver accepts
        both, and you can replace it without a pause.
      </p>
      <Choice label="The old secret keeps signing for" name="overlap" defaultValue="86400" options={OVERLAPS} />
    </CommandDialog>
  )
}

const DisableDialog = ({ subscription, onClose }: EndpointDialogProps) => (
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

function DeleteDialog({ subscription, onClose }: EndpointDialogProps) {
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

const DIALOGS = {
  recover: RecoverParked,
  backfill: BackfillDialog,
  edit: EditDialog,
  rotate: RotateDialog,
  pause: PauseOrResume,
  disable: DisableDialog,
  delete: DeleteDialog,
} as const
