import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const glossary = read('docs/glossary.md')
const rows = glossary
  .split('\n')
  .filter((line) => line.startsWith('| **'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

/** The files that declare each type. Test support and the console, which names what the API shows, are left out. */
const homes = new Map<string, Set<string>>()
for (const file of globSync('{packages,packages/products,services}/*/src/**/*.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})) {
  if (/\.test\.ts$|\/testing\//.test(file)) continue
  for (const [, name = ''] of read(file).matchAll(/^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm)) {
    homes.set(name, (homes.get(name) ?? new Set()).add(file))
  }
}

const typeNamed = (word: string): string =>
  word.replaceAll(/(?:^|[ -])(\w)/g, (_match, letter: string) => letter.toUpperCase())

test('a word of the glossary is listed once, and is the name of at most one type', () => {
  const words = rows.flatMap(([, cell = '', meaning = '']) =>
    [...`${cell} ${meaning}`.matchAll(/\*\*(.+?)\*\*/g)].map(([, word = '']) => word),
  )
  expect(words.length).toBeGreaterThan(60)
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
  const ambiguous = words.filter((word) => (homes.get(typeNamed(word))?.size ?? 0) > 1)
  expect(ambiguous).toEqual([])
})

test('two types of one package or service do not share a name', () => {
  const packageOf = (file: string): string => file.slice(0, file.indexOf('/src/'))
  const shared = [...homes].filter(([, files]) => new Set([...files].map(packageOf)).size < files.size)
  expect(shared.map(([name, files]) => [name, ...files])).toEqual([])
})

test('every type that the glossary names is declared in one file', () => {
  const names = rows.flatMap((cells) =>
    [...(cells[2] ?? '').matchAll(/`([A-Z]\w*[a-z]\w*)`/g)].map(([, name = '']) => name),
  )
  expect(names).toContain('Settlement')
  expect(names.filter((name) => homes.get(name)?.size !== 1)).toEqual([])
})

test('every place that the glossary names exists', () => {
  const places = rows.flatMap((cells) => [...(cells[3] ?? '').matchAll(/`(.+?)`/g)].map(([, place = '']) => place))
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([])
})
