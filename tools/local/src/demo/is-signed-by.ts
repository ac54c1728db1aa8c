import { createHmac, timingSafeEqual } from 'node:crypto'

/** An older webhook may be a replay. */
const WINDOW_SECONDS = 5 * 60

/** Verifies a webhook without a library, as docs/signatures.md shows. */
export function isSignedBy(
  secret: string,
  post: { readonly header: (name: string) => string | undefined; readonly body: string; readonly nowMs: number },
): boolean {
  const timestamp = post.header('webhook-timestamp') ?? ''
  const ageSeconds = Math.abs(post.nowMs / 1_000 - Number(timestamp))
  if (timestamp === '' || !(ageSeconds <= WINDOW_SECONDS)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const content = `${post.header('webhook-id')}.${timestamp}.${post.body}`
  const expected = createHmac('sha256', key).update(content).digest()
  return (post.header('webhook-signature') ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
