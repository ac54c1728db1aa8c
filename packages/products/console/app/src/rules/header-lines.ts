import { HeadersFault } from './faults.ts'

/** Stands for a stored value: the API shows it, and keeps the value if it is sent. */
export const KEPT = '***'

/** The headers of an endpoint as lines of text. */
export const headerLines = (headers: object | null | undefined): string =>
  Object.keys(headers ?? {})
    .map((name) => `${name}: ${KEPT}`)
    .join('\n')

/**
 * A value sets a header, `KEPT` keeps it, and a header of `before` without its line is removed.
 * @param isMoving the url moves to another origin, which must not get a stored value by mistake
 * @throws HeadersFault
 */
export function headersIn(
  text: string,
  before?: object | null,
  isMoving = false,
): Record<string, string | null> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0 && before == null) return null
  const entered = new Map<string, string>()
  for (const line of lines) {
    const [, sent, value = ''] = /^([^:]*):(.*)$/.exec(line) ?? refuse(`"${line.trim()}" has no colon after the name.`)
    const name = sent?.trim().toLowerCase() ?? ''
    if (entered.has(name)) refuse(`${name} has two lines.`)
    if (isMoving && value.trim() === KEPT)
      refuse(`The URL moves to another host: enter the value of ${name} again, or remove its line.`)
    entered.set(name, value.trim())
  }
  const removed = Object.keys(before ?? {}).filter((name) => !entered.has(name))
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...entered])
}

function refuse(message: string): never {
  throw new HeadersFault(message)
}
