import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const services = join(import.meta.dirname, '../../../services')

type Imports = ReadonlyMap<string, ReadonlySet<string>>

/** The imports of a service, as pairs of paths below its `src`. Tests may import anything. */
function importsIn(service: string): [from: string, to: string][] {
  const files = globSync(`${service}/src/**/*.ts`, { cwd: services })
  return files
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .flatMap((file) => {
      const specifiers = readFileSync(join(services, file), 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g)
      const below = (path: string): string => path.slice(`${service}/src/`.length)
      return [...specifiers].map(([, to = '']): [string, string] => [below(file), below(join(dirname(file), to))])
    })
}

/** A file of `src` itself stands alone. */
const folderOf = (path: string): string => (path.includes('/') ? dirname(path) : path)
const roomOf = (path: string): string => path.split('/')[0] ?? path

function importsBetween(nodeOf: (path: string) => string, imports: readonly [string, string][]): Imports {
  const between = new Map<string, Set<string>>()
  for (const [from, to] of imports.map((pair) => pair.map(nodeOf))) {
    if (from === undefined || to === undefined || from === to) continue
    between.set(from, (between.get(from) ?? new Set()).add(to))
  }
  return between
}

/** What is left once everything that imports nothing else is taken away, again and again. */
function ringsIn(imports: Imports): string[] {
  const isLeft = ([, to]: [string, ReadonlySet<string>]): boolean => [...to].some((node) => imports.has(node))
  const left = new Map([...imports].filter(isLeft))
  return left.size === imports.size ? [...left.keys()].toSorted() : ringsIn(left)
}

test.each(['api', 'fanout', 'delivery-worker'])(
  'the folders of services/%s form no ring by their imports',
  (service) => {
    const imports = importsIn(service)
    expect(imports.length).toBeGreaterThan(10)
    expect(ringsIn(importsBetween(folderOf, imports))).toEqual([])
    expect(ringsIn(importsBetween(roomOf, imports))).toEqual([])
  },
)

test('a ring of folders is found, and what only leads to it', () => {
  const ring: [string, string][] = [
    ['a/x.ts', 'b/y.ts'],
    ['b/z.ts', 'a/w.ts'],
    ['main.ts', 'a/x.ts'],
    ['b/y.ts', 'c/v.ts'],
  ]
  expect(ringsIn(importsBetween(folderOf, ring))).toEqual(['a', 'b', 'main.ts'])
})
