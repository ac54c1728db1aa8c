/** Changes that are most likely a misspelling: up to two neighbouring letters. */
const MAX_LETTERS = 2

/**
 * The end of a message about a misspelt name, such as `; did you mean "url"?`, with the known name that it most likely means;
 * '' if none is close. Case, `_` and `-` do not count.
 */
export function didYouMean(name: string, known: readonly string[]): string {
  const plain = plainOf(name)
  const meant = known.find((each) => isNear(plain, plainOf(each)))
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Whether the names differ in one place of at most two letters. Linear, because a hostile body can have many names. */
function isNear(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > MAX_LETTERS) return false
  const shorter = Math.min(name.length, known.length)
  let start = 0
  while (start < shorter && name[start] === known[start]) start += 1
  let end = 0
  while (end < shorter - start && name.at(-1 - end) === known.at(-1 - end)) end += 1
  const same = start + end
  return same > 0 && Math.max(name.length, known.length) - same <= MAX_LETTERS
}
