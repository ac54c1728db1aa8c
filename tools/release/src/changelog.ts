const UNRELEASED = '## Unreleased\n'

/** The entries under `Unreleased`, without its heading. @throws Error if there is no such heading */
export function unreleasedEntries(changelog: string): string {
  const at = changelog.indexOf(`\n${UNRELEASED}`)
  if (at < 0) throw new Error('CHANGELOG.md has no heading "## Unreleased"')
  const [entries = ''] = changelog.slice(at + 1 + UNRELEASED.length).split(/^## /m)
  return entries.trim()
}

/**
 * Moves the entries under `Unreleased` to a heading of their own.
 * @param date of the release, as `2026-11-22`
 * @throws Error if nothing is unreleased, or the version is in the changelog already
 */
export function cutChangelog(changelog: string, version: string, date: string): string {
  const entries = unreleasedEntries(changelog)
  if (entries === '') throw new Error('CHANGELOG.md has no entries under "## Unreleased"')
  if (changelog.split('\n').some((line) => line === `## ${version}` || line.startsWith(`## ${version} `))) {
    throw new Error(`CHANGELOG.md has a section for ${version} already`)
  }
  return changelog.replace(`\n${UNRELEASED}`, () => `\n${UNRELEASED}\n## ${version} - ${date}\n`)
}
