import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { CreatedSubscription, EventType, NewSubscription } from '../../api/model.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { textIn } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { useAction } from '../../ui/use-action.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { SecretOnce } from './secret-once.tsx'

/** Adds an endpoint, then shows its secret once. */
export function CreateDialog({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void
  readonly onCreated: (subscriptionId: string) => void
}) {
  const [created, setCreated] = useState<CreatedSubscription>()
  const create = useAction({
    run: (body: NewSubscription) => client.subscriptions.create(body),
    onDone: setCreated,
    showsErrors: true,
  })
  if (created !== undefined)
    return (
      <Dialog title="The endpoint was added" onClose={() => onCreated(created.id)}>
        <SecretOnce secret={created.secret} />
        <div className="dialog-buttons">
          <Button kind="primary" onClick={() => onCreated(created.id)}>
            I have stored the secret
          </Button>
        </div>
      </Dialog>
    )
  return (
    <FormDialog
      title="Add an endpoint"
      submitLabel="Add"
      onClose={onClose}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(form) => create.mutate({ ...fieldsOf(form), enabled: true })}
    >
      <EndpointFields />
    </FormDialog>
  )
}

/** The entered endpoint, as the API takes it. */
export const fieldsOf = (form: FormData) => ({
  url: textIn(form, 'url'),
  description: textIn(form, 'description') || null,
  externalId: textIn(form, 'externalId') || null,
  eventTypes: form.getAll('eventTypes').map(String) as EventType[],
})
