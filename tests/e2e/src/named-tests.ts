import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')

export const readDocs = (page: string): string => readFileSync(join(docs, page), 'utf8')

/** The names of the files of tests that a page defines for its links: `[name]: ../path.test.ts`. */
const definitionsOf = (page: string): Map<string, string> =>
  new Map([...page.matchAll(/^\[([^\]]+)\]: (\S+)$/gm)].map(([, name = '', file = '']) => [name, file]))

/** Each test that a part of a page links to, as `[title](../path.test.ts)` or `[title][name]`: its title and its file. */
export function namedTests(part: string, page: string): [title: string, file: string][] {
  const definitions = definitionsOf(page)
  return [...part.matchAll(/\[([^\]]+)\](?:\(([^)]+)\)|\[([^\]]+)\])/g)]
    .map(([, title = '', path, name = '']): [string, string] => [title, path ?? definitions.get(name) ?? ''])
    .filter(([, file]) => file.endsWith('.test.ts'))
}

/** Whether a file has a test of exactly this title. */
export const hasTest = (title: string, file: string): boolean => {
  const source = readDocs(file)
  return ["'", '"', '`'].some((quote) => source.includes(quote + title + quote))
}
