import { CopyButton, Notice } from '../../ui/parts.tsx'

/** A secret that no other page shows, with what a receiver does with it. */
export function SecretOnce({ secret }: { readonly secret: string }) {
  return (
    <>
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
    </>
  )
}
