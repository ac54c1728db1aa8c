/** A semantic version without build metadata: `1.2.3` or `1.2.3-rc.1` (semver.org). */
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*))?$/i

export const isVersion = (text: string): boolean => VERSION.test(text)

/** Orders versions by precedence (semver.org, item 11): negative if `a` is before `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  const differences = left.map((part, at) => compareParts(part, right[at]))
  return differences.find((difference) => difference !== 0) ?? left.length - right.length
}

/** The numbers and labels. No label is after `~`, which puts a release after its pre-releases. */
function partsOf(version: string): readonly string[] {
  const [, major, minor, patch, labels = '~'] = VERSION.exec(version) ?? []
  if (major === undefined || minor === undefined || patch === undefined)
    throw new Error(`${version} is not a semantic version, such as 1.2.3`)
  return [major, minor, patch, ...labels.split('.')]
}

/** Numbers come before words, and a version with fewer labels before the longer one. */
function compareParts(a: string, b: string | undefined): number {
  if (b === undefined) return 1
  const [isNumber, isOtherNumber] = [a, b].map((part) => /^\d+$/.test(part))
  if (isNumber && isOtherNumber) return Number(a) - Number(b)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}
