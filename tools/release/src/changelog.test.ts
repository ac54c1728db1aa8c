import { cutChangelog, unreleasedEntries } from './changelog.ts'

const CHANGELOG = `# Changelog

All notable changes.

## Unreleased

### Added

- A $& thing.

## 0.1.0 - 2026-01-02

- The first.
`

test('the unreleased entries get a heading with version and date, and later entries a new place', () => {
  const cut = cutChangelog(CHANGELOG, '0.2.0', '2026-11-22')
  expect(cut).toBe(CHANGELOG.replace('## Unreleased\n', () => '## Unreleased\n\n## 0.2.0 - 2026-11-22\n'))
  expect(unreleasedEntries(cut)).toBe('')
  expect(unreleasedEntries(CHANGELOG)).toBe('### Added\n\n- A $& thing.')
})

test.each([
  ['no heading', '# Changelog\n', '0.2.0', 'has no heading "## Unreleased"'],
  ['no entries', '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- The first.\n', '0.2.0', 'has no entries'],
  ['a version that is there', CHANGELOG, '0.1.0', 'has a section for 0.1.0 already'],
])('%s is an error', (_what, changelog, version, problem) => {
  expect(() => cutChangelog(changelog, version, '2026-11-22')).toThrow(problem)
})
