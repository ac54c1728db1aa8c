import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_RETRY_WAITS, DEFAULT_SCHEDULE } from './retry-schedule.ts'

const root = join(import.meta.dirname, '../../../..')

/** The beginning of a schedule, as a setting or in words. */
const SCHEDULE = '10s, ?1m, ?5m, ?30m|10 s, 1 min, 5 min, 30 min'

/** The files that may contain the default schedule, besides its source. A test compares the generated ones with the code. */
const REPEATED = {
  written: ['README.md', 'infra/helm/switchhook/values.yaml'],
  generated: ['docs/configuration.md', 'docs/helm-values.md', 'docs/openapi.json', 'infra/helm/rendered/'],
  // The specification and the page that quotes its sentences.
  specified: ['docs/specification.md', 'docs/specification-tests.md'],
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the default schedule is that of the specification', () => {
  expect(read('docs/specification.md')).toContain(DEFAULT_SCHEDULE.waits.replace(' and', ','))
  expect(DEFAULT_SCHEDULE).toMatchObject({ attempts: 8, length: '12 h 36 min' })
})

test('the texts that repeat the default schedule agree with the code', () => {
  expect(read('README.md').replaceAll(/\s+/g, ' ')).toContain(`after ${DEFAULT_SCHEDULE.waits}.`)
  expect(read('infra/helm/switchhook/values.yaml')).toContain(`DELIVERY_RETRY_WAITS: ${DEFAULT_RETRY_WAITS}\n`)
})

test('no other file repeats the default schedule', () => {
  const files = execFileSync(
    'git',
    ['grep', '--no-index', '--exclude-standard', '-lE', SCHEDULE, '--', ':!*.test.ts', ':!*.lock', ':!CHANGELOG.md'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  const source = 'packages/contracts/src/deliveries/retry-schedule.ts'
  const known = [source, ...Object.values(REPEATED).flat()]
  const found = files.trim().split('\n')
  expect(found).toContain(source)
  expect(found.filter((file) => !known.some((path) => file.startsWith(path)))).toEqual([])
})

test('the length of the default schedule is the same everywhere in the documentation', () => {
  const lengths = execFileSync(
    'git',
    ['grep', '--no-index', '--exclude-standard', '-ohE', '\\b[0-9]+ h [0-9]+ min', '--', 'docs/*.md', 'README.md'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  // Of a dead endpoint: with the postponed last slot, which alone is 6 h 37 min (ADR 0066).
  const known = [DEFAULT_SCHEDULE.length, '19 h 13 min', '6 h 37 min', '6 h 36 min', '2 h 47 min']
  expect(
    lengths
      .trim()
      .split('\n')
      .filter((length) => !known.includes(length)),
  ).toEqual([])
})
