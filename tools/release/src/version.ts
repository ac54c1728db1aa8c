/** A semantic version without build metadata: `1.2.3` or `1.2.3-rc.1` (semver.org). */
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*))?$/i

export const isVersion = (text: string): boolean => VERSION.test(text)

/** Orders versions by precedence (semver.org, item 11): negative if `a` is before `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  // A pre-release comes before its release.
  if (left.labels.length === 0 || right.labels.length === 0) return right.labels.length - left.labels.length
  for (let at = 0; at < Math.max(left.labels.length, right.labels.length); at++) {
    const difference = compareLabels(left.labels[at], right.labels[at])
    if (difference !== 0) return difference
  }
  return 0
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly labels: readonly string[] } {
  const [, major, minor, patch, labels] = VERSION.exec(version) ?? []
  if (major === undefined) throw new Error(`${version} is not a semantic version, such as 1.2.3`)
  return { numbers: [major, minor, patch].map(Number), labels: labels?.split('.') ?? [] }
}

/** Numbers come before words, and a version with fewer labels before the longer one. */
function compareLabels(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1
  const [isNumber, isOtherNumber] = [a, b].map((label) => /^\d+$/.test(label))
  if (isNumber && isOtherNumber) return Number(a) - Number(b)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}
