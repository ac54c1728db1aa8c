import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const glossary = read('docs/glossary.md')
const cellsOf = (line: string): string[] => line.split('|').map((cell) => cell.trim())
const quoted = (cell = ''): string[] => [...cell.matchAll(/`(.+?)`/g)].map(([, text = '']) => text)
const rows = glossary
  .split('\n')
  .filter((line) => line.startsWith('| **'))
  .map(cellsOf)

/** The files that declare each type. Test support and the console, which names what the API shows, are left out. */
const homes = new Map<string, Set<string>>()
/** The names of files, functions and types, without those of constants in capitals. */
const present: { readonly file: string; readonly name: string }[] = []
for (const file of globSync('{packages,packages/products,services}/*/src/**/*.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})) {
  if (/\.test\.ts$|\/testing\//.test(file)) continue
  present.push({ file, name: basename(file, '.ts') })
  const declared = /^(?:export )?(?:async |abstract )?(function|const|interface|type|class) (\w+)/gm
  for (const [, kind = '', name = ''] of read(file).matchAll(declared)) {
    if (/[a-z]/.test(name)) present.push({ file, name })
    if (/interface|type|class/.test(kind)) homes.set(name, (homes.get(name) ?? new Set()).add(file))
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

const wordsOf = (name: string): string[] =>
  name.split(/(?=[A-Z])|[-_.]/).map((word) => word.toLowerCase().replace(/ies$/, 'y').replace(/s$/, ''))

test('a word that the glossary excludes from a folder is in no name there', () => {
  const [, table = ''] = glossary.split('| word | not used in | used there instead |')
  const excluded = table
    .split('\n')
    .filter((line) => /^\| [a-z]/.test(line))
    .map(cellsOf)
  const used = excluded.flatMap(([, word = '', folders]) =>
    quoted(folders).flatMap((folder) =>
      present.filter(({ file, name }) => file.startsWith(`${folder}/`) && wordsOf(name).includes(word)),
    ),
  )
  expect(excluded.length).toBeGreaterThan(9)
  expect(used).toEqual([])
})

test('every place that the glossary names exists', () => {
  const places = rows.flatMap((cells) => quoted(cells[3]))
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([])
})
