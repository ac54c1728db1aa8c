import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const pages = globSync(['*.md', '{docs,packages,services,infra,tools,tests}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
})

/** The anchor that Markdown viewers derive from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const withoutCode = (text: string): string => text.replaceAll(/```.*?```/gs, '').replaceAll(/`[^`\n]*`/g, '')

function anchorsOf(page: string): Set<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/```.*?```/gs, '')
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)))
}

const links = pages.flatMap((page) =>
  [...withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)]
    .map(([, target = '', defined = target]) => defined)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({ page, target })),
)

test('every relative link in the documentation points to an existing file and heading', () => {
  const broken = links.filter(({ page, target }) => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? join(root, page) : join(root, dirname(page), path)
    if (!existsSync(file)) return true
    return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor)
  })
  expect(broken).toEqual([])
  expect(links.length).toBeGreaterThan(100)
})

test('every link by a name has a definition of that name', () => {
  const undefinedNames = pages.flatMap((page) => {
    const text = withoutCode(readFileSync(join(root, page), 'utf8'))
    const defined = new Set([...text.matchAll(/^\[([^\]]+)\]: /gm)].map(([, name]) => name))
    return [...text.matchAll(/\]\[([^\]]+)\]/g)].filter(([, name]) => !defined.has(name)).map(([link]) => page + link)
  })
  expect(undefinedNames).toEqual([])
})

test('every decision is in the index, and every number without a file says why', () => {
  const index = readFileSync(join(root, 'docs/adr/README.md'), 'utf8')
  const files = globSync('docs/adr/0*.md', { cwd: root }).map((path) => path.slice('docs/adr/'.length))
  const merged = files.filter((file) => /^Merged into /m.test(readFileSync(join(root, 'docs/adr', file), 'utf8')))
  expect(files.filter((file) => !merged.includes(file) && !index.includes(`](${file}) |`))).toEqual([])
  const numbers = [...index.matchAll(/^\| \[?(\d{4})(?:, (\d{4}))?/gm)]
    .flatMap(([, ...found]) => found.filter((number) => number !== undefined).map(Number))
    .toSorted((one, other) => one - other)
  expect(numbers).toEqual(numbers.map((_number, at) => at + 1))
})

test('every page of docs begins with a sentence that says what it is for', () => {
  const beginnings = pages
    .filter((page) => /^docs\/[^/]+\.md$/.test(page) && !/README|specification\.md/.test(page))
    .map((page) => {
      const [, first = ''] =
        /^# [^\n]+\n+(?:<!--.*?-->\n+)?([^\n]+)/s.exec(readFileSync(join(root, page), 'utf8')) ?? []
      return [page, first] as const
    })
  expect(beginnings.filter(([, line]) => !/^[A-Z`[*][^|]{20}/.test(line) || line.startsWith('```'))).toEqual([])
})

test('every page of docs is listed in docs/README.md', () => {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const unlisted = pages
    .filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md')
    .filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))
  expect(unlisted).toEqual([])
})
