import { type ReactNode, useState } from 'react'
import { client } from '../../api/client.ts'
import type { CreatedSubscription, SubscribedType, Subscription } from '../../api/model.ts'
import { headersIn, readFilter } from '../../rules/form.ts'
import { CommandDialog, Dialog } from '../../ui/dialog.tsx'
import { numberIn, textIn } from '../../ui/fields.tsx'
import { Button, CopyButton, Notice } from '../../ui/parts.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { Warnings } from './filter-field.tsx'

interface CreateDialogProps {
  readonly onClose: () => void
  readonly onCreated: (subscriptionId: string) => void
}

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

interface SecretDialogProps {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
  readonly children?: ReactNode
}

export const SecretDialog = ({ title, secret, onClose, children }: SecretDialogProps) => (
  <Dialog staysOpen title={title} onClose={onClose}>
    <Notice tone="warn">
      Copy the secret now. It is not shown again. Your receiver needs it to verify that deliveries come from here.
    </Notice>
    <p className="id secret">
      <code>{secret}</code>
      <CopyButton text={secret} label="Copy the secret" />
    </p>
    <p>A receiver in Node verifies each request with the Standard Webhooks library:</p>
    <pre className="snippet" tabIndex={0} aria-label="Receiver in Node">
      {`import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
webhook.verify(rawBody, headers) // throws if it is forged`}
    </pre>
    {children}
    <div className="dialog-buttons">
      <Button kind="primary" onClick={onClose}>
        I have stored the secret
      </Button>
    </div>
  </Dialog>
)
