import fc from 'fast-check'
import { compareVersions, isVersion } from './version.ts'

// The example of semver.org, item 11, and releases around it.
const ASCENDING = [
  '0.9.9',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '1.10.0',
  '2.0.0',
]

test('versions are ordered by precedence', () => {
  fc.assert(
    fc.property(fc.nat(ASCENDING.length - 1), fc.nat(ASCENDING.length - 1), (one, other) => {
      const compared = compareVersions(ASCENDING[one] ?? '', ASCENDING[other] ?? '')
      expect(Math.sign(compared)).toBe(Math.sign(one - other))
    }),
  )
})

test.each(['1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+build', ' 1.2.3', ''])(
  '%p is no version',
  (text) => {
    expect(isVersion(text)).toBe(false)
    expect(() => compareVersions(text, '1.0.0')).toThrow('is not a semantic version')
  },
)
