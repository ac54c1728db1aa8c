import { redact } from './redact.ts'

/** How much of an answer is kept, in bytes of UTF-8. */
export const EXCERPT_BYTES = 256

/** Of the wire: more than is kept, as what is taken out makes room. */
export const EXCERPT_SOURCE_BYTES = 1_024

/**
 * What an endpoint says of why it refused, as one line of text that may be stored and shown: at most `EXCERPT_BYTES`, without control
 * characters, without whatever looks like a secret or an address. Undefined for nothing, and for what is not text.
 * @param isWhole false: more followed, so that its last word may be half a secret
 */
export function answerExcerpt(bytes: Buffer, isWhole: boolean): string | undefined {
  const text = decode(bytes)
  if (text === undefined) return undefined
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
  const excerpt = cut(redact(isWhole ? line : line.replace(LAST_WORD, '')), EXCERPT_BYTES).trim()
  return excerpt === '' ? undefined : excerpt
}

/** Strict but for its end, which may stand within a character. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

const LAST_WORD = /[^\s"',;<>{}[\]()]*$/u

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  // A character that does not fit whole is left out.
  return new TextDecoder('utf-8').decode(bytes.subarray(0, maxBytes), { stream: true })
}
