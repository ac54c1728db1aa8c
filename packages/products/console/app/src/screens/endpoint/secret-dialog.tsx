import type { ReactNode } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, CopyButton, Notice } from '../../ui/parts.tsx'

interface SecretDialogProps {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** A secret that is not shown again, with what a receiver does with it. */
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
