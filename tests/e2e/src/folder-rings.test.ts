import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const repository = join(import.meta.dirname, '../../..')

type Imports = ReadonlyMap<string, ReadonlySet<string>>

/** The imports of a service or a package, as pairs of paths below its `src`. Tests may import anything. */
function importsIn(part: string): [from: string, to: string][] {
  const files = globSync(`${part}/src/**/*.ts`, { cwd: repository })
  return files
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .flatMap((file) => {
      const specifiers = readFileSync(join(repository, file), 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g)
      const below = (path: string): string => path.slice(`${part}/src/`.length)
      return [...specifiers].map(([, to = '']): [string, string] => [below(file), below(join(dirname(file), to))])
    })
}

/** A file of `src` itself stands alone, as does a generated one: its folder says how it is made, not where it belongs. */
const standsAlone = (path: string): boolean => !path.includes('/') || path.startsWith('generated/')
const folderOf = (path: string): string => (standsAlone(path) ? path : dirname(path))
const roomOf = (path: string): string => (standsAlone(path) ? path : (path.split('/')[0] ?? path))

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

const parts = globSync('{services,packages,packages/products}/*/src', { cwd: repository }).map(dirname)

test.each(parts)('the folders of %s form no ring by their imports', (part) => {
  const imports = importsIn(part)
  expect(ringsIn(importsBetween(folderOf, imports))).toEqual([])
  expect(ringsIn(importsBetween(roomOf, imports))).toEqual([])
})

test('what is shipped imports no test support', () => {
  const isShipped = (file: string): boolean => !/\.test\.tsx?$|\/testing\//.test(file)
  const support = /'@switchhook\/(testkit|servicekit|conformance|pbx|test-servers)'/
  const files = globSync(
    parts.flatMap((part) => [`${part}/src/**/*.ts`, `${part}/app/**/*.{ts,tsx}`]),
    { cwd: repository },
  ).filter(isShipped)
  expect(files.filter((file) => support.test(readFileSync(join(repository, file), 'utf8')))).toEqual([])
})

test('imports are found in every service', () => {
  for (const part of ['services/api', 'services/fanout', 'services/delivery-worker']) {
    expect(parts).toContain(part)
    expect(importsIn(part).length).toBeGreaterThan(10)
  }
})

test('a ring of folders is found, and what only leads to it', () => {
  const ring: [string, string][] = [
    ['a/x.ts', 'b/y.ts'],
    ['b/z.ts', 'a/w.ts'],
    ['main.ts', 'a/x.ts'],
    ['b/y.ts', 'c/v.ts'],
  ]
  expect(ringsIn(importsBetween(folderOf, ring))).toEqual(['a', 'b', 'main.ts'])
})
