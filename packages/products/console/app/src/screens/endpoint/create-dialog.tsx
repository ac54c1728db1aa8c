import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { CreatedSubscription, SubscribedType, Subscription } from '../../api/model.ts'
import { readFilter } from '../../rules/filter.ts'
import { headersIn } from '../../rules/header-lines.ts'
import { CommandDialog } from '../../ui/dialog.tsx'
import { numberIn, textIn } from '../../ui/fields.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { Warnings } from './filter-field.tsx'
import { SecretDialog } from './secret-dialog.tsx'

interface CreateDialogProps {
  readonly onClose: () => void
  readonly onCreated: (subscriptionId: string) => void
}

/** Adds an endpoint, then shows its secret once. */
export function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const [created, setCreated] = useState<CreatedSubscription>()
  if (created !== undefined)
    return (
      <SecretDialog title="The endpoint was added" secret={created.secret} onClose={() => onCreated(created.id)}>
        <Warnings warnings={created.warnings} />
      </SecretDialog>
    )
  return (
    <CommandDialog
      title="Add an endpoint"
      submitLabel="Add"
      onClose={onClose}
      run={(form) =>
        client.subscriptions.create({
          ...fieldsOf(form),
          mode: textIn(form, 'mode') === 'pull' ? 'pull' : 'post',
          enabled: true,
        })
      }
      onDone={setCreated}
    >
      <EndpointFields />
    </CommandDialog>
  )
}

/** The entered endpoint, as the API takes it. @throws HeadersFault */
export const fieldsOf = (form: FormData, before?: Subscription) => ({
  url: textIn(form, 'url') || null,
  description: textIn(form, 'description') || null,
  externalId: textIn(form, 'externalId') || null,
  filter: readFilter(textIn(form, 'filter')).filter ?? null,
  recoverRejected: form.has('recoverRejected'),
  expireAfterSeconds: numberIn(form, 'expireAfterSeconds'),
  maxInFlight: numberIn(form, 'maxInFlight'),
  maxPerSecond: numberIn(form, 'maxPerSecond'),
  deleteAfterUnusedSeconds: numberIn(form, 'deleteAfterUnusedSeconds'),
  headers: headersIn(textIn(form, 'headers'), before?.headers, isMoving(before?.url, textIn(form, 'url'))),
  eventTypes: form.getAll('eventTypes').map(String) as SubscribedType[],
})

const isMoving = (from: string | null | undefined, to: string): boolean =>
  from != null && URL.parse(from)?.origin !== URL.parse(to)?.origin
