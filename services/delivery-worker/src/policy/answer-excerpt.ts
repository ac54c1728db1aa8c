/** The limit of a stored excerpt, in bytes of UTF-8. */
export const EXCERPT_BYTES = 256

/** How much of the body is read for it: more than is stored, because redaction shortens the text. */
export const EXCERPT_SOURCE_BYTES = 1_024

/**
 * An endpoint's error message as one line of text that may be stored and shown: at most `EXCERPT_BYTES`, without control
 * characters, and without anything that looks like a secret or an address. Undefined if the body is empty or not text.
 * @param isComplete false: the body was cut, so its last word may be half a secret
 * @param hidden the values of headers that were sent, which the answer may repeat
 */
export function answerExcerpt(bytes: Buffer, isComplete: boolean, hidden: readonly string[] = []): string | undefined {
  const text = decode(bytes)
  if (text === undefined) return undefined
  const line = withoutValues(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' '), hidden)
  const excerpt = cut(redact(isComplete ? line : line.replace(LAST_WORD, '')), EXCERPT_BYTES).trim()
  return excerpt === '' ? undefined : excerpt
}

/** Rejects invalid UTF-8, except for a cut character at the end. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/**
 * Also without the words of a value, because a body can be cut within it, or quote it with other spaces. A value is first
 * replaced by a character that no value contains: `[redacted]` contains short values, and the text would grow with each.
 */
function withoutValues(line: string, hidden: readonly string[]): string {
  const words = hidden.flatMap((value) => value.split(BETWEEN_WORDS)).filter((word) => word.length >= MIN_WORD_LENGTH)
  return [...hidden, ...words]
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, value) => text.replaceAll(value, REMOVED), line)
    .replaceAll(REMOVED, REDACTED)
}

/** Neither in a line of an excerpt nor in the value of a header. */
const REMOVED = '\0'

const BETWEEN_WORDS = /[\s"'\\,;<>{}[\]()]+/u
/** Shorter ones are too common to hide anything. */
const MIN_WORD_LENGTH = 4

const LAST_WORD = /[^\s"',;<>{}[\]()]*$/u

/** A character that does not fit completely is left out. */
const cut = (text: string, maxBytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read)

const REDACTED = '[redacted]'

/**
 * Removes everything that looks like a secret or a mail address; rather too much than too little. Takes linear time for any
 * text: each expression begins at most once per word.
 */
function redact(line: string): string {
  return PATTERNS.reduce(
    (text, [pattern, by]) => text.replaceAll(pattern, by),
    withoutNamedSecrets(line.replaceAll(SCHEME, `$1 ${REDACTED}`)),
  )
}

/** RFC 9110, section 11.4. */
const SCHEME = /\b(bearer|basic|digest|negotiate) [^\s"',;<>]+/giu

/** A name and the sign before its value: in JSON, in JSON within JSON, in a form, in a header. */
const NAME = /(?<![\w.-])([\w.-]+)\\*["']? ?[:=] ?/gu
const SECRET =
  /pass(?:word|wd|phrase|code)|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential|session|(?:api|access|private|signing|encryption)[._-]?key/iu
/** Headers whose values have several words. */
const SECRET_LINE = /authori[sz]ation|cookie/iu

/** A quoted value ends at its closing quote, or at the end of a text that was cut before it. */
const VALUE = /"(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|\\+["'].*?(?:\\+["']|$)|[^\s"',;&<>{}[\]()]+/uy
const LINE_VALUE = /["']?[^"']*["']?/uy

function withoutNamedSecrets(line: string): string {
  let text = ''
  let end = 0
  for (const { 0: match, 1: name = '', index } of line.matchAll(NAME)) {
    const pattern = SECRET_LINE.test(name) ? LINE_VALUE : SECRET.test(name) ? VALUE : undefined
    const valueAt = index + match.length
    // Skips names inside the previous value. A name that was itself taken for a value still has its own value redacted.
    if (pattern === undefined || valueAt < end) continue
    pattern.lastIndex = valueAt
    const [value = ''] = pattern.exec(line) ?? []
    if (value === '') continue
    const [quote = ''] = /^\\*["']/.exec(value) ?? []
    text += line.slice(end, valueAt) + quote + REDACTED + quote
    end = valueAt + value.length
  }
  return text + line.slice(end)
}

const PATTERNS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\/\/[^\s/@"'<>]*@/gu, `//${REDACTED}@`],
  [/(?<![\p{L}\p{N}.!#$%&*+/=?^_`|~-])[\p{L}\p{N}.!#$%&*+/=?^_`|~-]+@[\p{L}\p{N}.-]+/gu, REDACTED],
  // Prefixes of the secrets of well-known services.
  [/(?<![A-Za-z\d])(?:whsec|sk|pk|rk|gh[opsu]|xox[abp])[_-][\w+/=-]+/gu, REDACTED],
  // A JSON Web Token begins with an object.
  [/(?<![\w-])eyJ[\w-]*(?:\.[\w-]*){0,2}/gu, REDACTED],
  // As long as a key of 128 bits in hex or base64, and unlike a word. GUIDs are kept, because of their dashes.
  [/(?<![\w+/-])(?=[^\s\d]*\d)(?=[^\sa-z]*[a-z])(?=[^\sA-Z]*[A-Z])[\w+/-]{24,}={0,2}/gu, REDACTED],
  [/(?<![A-Za-z\d])(?=[A-Za-z]*\d)[A-Za-z\d]{32,}/gu, REDACTED],
]
