const REDACTED = '[redacted]'

/**
 * Takes out of a line of text what looks like a secret or like somebody's address. It errs on the side of taking out too much. Its
 * time grows with the length of the text, whatever the text is: each expression begins at most once per word.
 */
export function redact(line: string): string {
  return PATTERNS.reduce(
    (text, [pattern, by]) => text.replaceAll(pattern, by),
    withoutNamedSecrets(line.replaceAll(SCHEME, `$1 ${REDACTED}`)),
  )
}

/** RFC 9110, section 11.4. */
const SCHEME = /\b(bearer|basic|digest|negotiate) [^\s"',;<>]+/giu

/** What something is called, and the sign that its value follows: in JSON, in JSON within JSON, in a form, in a header. */
const NAME = /(?<![\w.-])([\w.-]+)\\*["']? ?[:=] ?/gu
const SECRET =
  /pass(?:word|wd|phrase|code)|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential|session|(?:api|access|private|signing|encryption)[._-]?key/iu
/** Headers whose values hold several words. */
const SECRET_LINE = /authori[sz]ation|cookie/iu

/** A quoted value goes to its closing quote, or to the end of a text that was cut off before. */
const VALUE = /"(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|\\+["'].*?(?:\\+["']|$)|[^\s"',;&<>{}[\]()]+/uy
const LINE_VALUE = /["']?[^"']*["']?/uy

function withoutNamedSecrets(line: string): string {
  let text = ''
  let end = 0
  for (const { 0: whole, 1: name = '', index } of line.matchAll(NAME)) {
    const pattern = valuePatternOf(name)
    const valueAt = index + whole.length
    // What was taken for a value may be a name itself, with its value behind it.
    if (pattern === undefined || valueAt < end) continue
    pattern.lastIndex = valueAt
    const [value = ''] = pattern.exec(line) ?? []
    if (value === '') continue
    text += line.slice(end, valueAt) + inQuotesOf(value)
    end = valueAt + value.length
  }
  return text + line.slice(end)
}

function valuePatternOf(name: string): RegExp | undefined {
  if (SECRET_LINE.test(name)) return LINE_VALUE
  return SECRET.test(name) ? VALUE : undefined
}

function inQuotesOf(value: string): string {
  const [quote = ''] = /^\\*["']/.exec(value) ?? []
  return `${quote}${REDACTED}${quote}`
}

const PATTERNS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\/\/[^\s/@"'<>]*@/gu, `//${REDACTED}@`],
  [/(?<![\p{L}\p{N}.!#$%&*+/=?^_`|~-])[\p{L}\p{N}.!#$%&*+/=?^_`|~-]+@[\p{L}\p{N}.-]+/gu, REDACTED],
  // Prefixes by which well-known services mark their secrets.
  [/(?<![A-Za-z\d])(?:whsec|sk|pk|rk|gh[opsu]|xox[abp])[_-][\w+/=-]+/gu, REDACTED],
  // A JSON Web Token begins with an object.
  [/(?<![\w-])eyJ[\w-]*(?:\.[\w-]*){0,2}/gu, REDACTED],
  // As long as a key is and no word: 128 bits in hex or in base64. GUIDs, with their dashes, stay.
  [/(?<![\w+/-])(?=[^\s\d]*\d)(?=[^\sa-z]*[a-z])(?=[^\sA-Z]*[A-Z])[\w+/-]{24,}={0,2}/gu, REDACTED],
  [/(?<![A-Za-z\d])(?=[A-Za-z]*\d)[A-Za-z\d]{32,}/gu, REDACTED],
]
