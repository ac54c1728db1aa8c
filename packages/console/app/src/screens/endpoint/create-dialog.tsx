import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { CreatedSubscription, SubscribedType, Subscription } from '../../api/model.ts'
import { readFilter } from '../../rules/filter.ts'
import { headersIn } from '../../rules/header-lines.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { numberIn, textIn } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { useAction } from '../../ui/use-action.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { Warnings } from './filter-field.tsx'
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
    run: (form: FormData) =>
      client.subscriptions.create({ ...fieldsOf(form), mode: isPull(form) ? 'pull' : 'post', enabled: true }),
    onDone: setCreated,
    showsErrors: true,
  })
  if (created !== undefined)
    return (
      <Dialog staysOpen title="The endpoint was added" onClose={() => onCreated(created.id)}>
        <SecretOnce secret={created.secret} />
        <Warnings warnings={created.warnings} />
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
      staysOpen={create.isPending}
      onClose={onClose}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(form) => create.mutate(form)}
    >
      <EndpointFields />
    </FormDialog>
  )
}

const isPull = (form: FormData): boolean => textIn(form, 'mode') === 'pull'

/**
 * The entered endpoint, as the API takes it.
 * @throws FieldFault
 */
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
