import { readFileSync } from 'node:fs'
import { readSchema, readValues, type ValueSchema, valuesPage, valuesPageFile } from './values-page.ts'

test('docs/helm-values.md is the page that `make chart` writes from the schema and the defaults', () => {
  expect(readFileSync(valuesPageFile, 'utf8')).toBe(valuesPage(readSchema(), readValues()))
})

test('the schema describes every value, and every described value has a default', () => {
  const pathsOf = ({ properties }: ValueSchema, prefix = ''): string[] =>
    Object.entries(properties ?? {}).flatMap(([name, value]) =>
      value.properties === undefined ? [`${prefix}${name}`] : pathsOf(value, `${prefix}${name}.`),
    )
  const described = pathsOf(readSchema()).filter((path) => path !== 'global')
  const has = (path: string): boolean => {
    let at: unknown = readValues()
    for (const name of path.split('.')) {
      if (typeof at !== 'object' || at === null || !(name in at)) return false
      at = (at as Record<string, unknown>)[name]
    }
    return true
  }
  expect(described.filter((path) => !has(path))).toEqual([])
  expect(described.length).toBeGreaterThan(80)
})

test('rejects a value without a description or a default', () => {
  const schema = { properties: { replicas: {} } }
  expect(() => valuesPage(schema, { replicas: 1 })).toThrow('replicas has no description')
  const described = { properties: { replicas: { description: 'Pods.' } } }
  expect(() => valuesPage(described, {})).toThrow('replicas has no default')
  expect(valuesPage(described, { replicas: 1 })).toContain('| `replicas` | `1` | Pods. |')
})

test('describes the members of a list’s entries', () => {
  const roles = { description: 'Roles.', properties: { claim: { description: 'A claim.' } }, required: ['claim'] }
  const issuer = { properties: { issuer: { description: 'An issuer.' }, roles }, required: ['issuer'] }
  const page = valuesPage({ properties: { issuers: { description: 'Issuers.', items: issuer } } }, { issuers: [] })
  expect(page.match(/^\| `.*/gm)?.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    '| `issuers` | `[]` | Issuers. |',
    '| `issuers[].issuer` | required | An issuer. |',
    '| `issuers[].roles` | none | Roles. |',
    '| `issuers[].roles.claim` | required | A claim. |',
  ])
  const unnamed = { properties: { issuers: { description: 'Issuers.', items: { properties: { issuer: {} } } } } }
  expect(() => valuesPage(unnamed, { issuers: [] })).toThrow('issuers[].issuer has no description')
})
