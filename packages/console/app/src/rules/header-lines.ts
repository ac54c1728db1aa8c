/** Stands for a stored value: the API shows it, and keeps the value if it is sent. */
export const KEPT = '***'

/** The headers of an endpoint as lines of text. */
export const headerLines = (headers: object | null | undefined): string =>
  Object.keys(headers ?? {})
    .map((name) => `${name}: ${KEPT}`)
    .join('\n')

/**
 * The change that the edited lines ask for: a value sets a header, `KEPT` keeps it, and a header without its line is removed.
 * @param before the stored headers; absent: the endpoint is new
 * @param isMoving the url moves to another origin: the API then asks for each value again
 */
export function headersIn(
  text: string,
  before?: object | null,
  isMoving = false,
): Record<string, string | null> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return null
  const entered = lines.flatMap((line): [name: string, value: string][] => {
    const [, name = line, value = ''] = /^([^:]*):(.*)$/.exec(line) ?? []
    return isMoving && value.trim() === KEPT ? [] : [[name.trim().toLowerCase(), value.trim()]]
  })
  const named = lines.map((line) => line.split(':', 1)[0]?.trim().toLowerCase())
  const removed = Object.keys(before ?? {})
    .filter((name) => !named.includes(name))
    .map((name): [string, null] => [name, null])
  return Object.fromEntries([...removed, ...entered])
}
