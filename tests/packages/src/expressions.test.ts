import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { check, checkSync } from 'recheck'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/**
 * What is known of each expression that repeats without a bound. `recheck` takes half a minute for all of them, so this test
 * asks it only about new ones: add its `safe` ones here, mend the others, or give the reason why their input is short.
 */
const KNOWN = JSON.parse(readFileSync(new URL('../expressions.json', import.meta.url), 'utf8')) as {
  readonly safe: readonly string[]
  readonly shortInput: Readonly<Record<string, string>>
}

/** The expressions of everything that is shipped, in the sources and in the schemas, with a file that has them. */
function expressionsOf(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const sources = globSync('{services,packages,packages/products}/*/{src,app/src}/**/*.{ts,tsx}', { cwd: ROOT }).filter(
    (file) => !/\.test\.tsx?$|\/testing\/|\/generated\/|^packages\/(testkit|test-servers|pbx)\//.test(file),
  )
  for (const file of sources) {
    const add = (pattern: string, flags: string): void => {
      if (/[*+]|\{\d+,\}/.test(pattern)) found.set(`/${pattern}/${flags}`, file)
    }
    new Visitor({
      Literal: (node) => {
        if ('regex' in node && node.regex !== null) add(node.regex.pattern, node.regex.flags)
      },
      Property: ({ key, value }) => {
        const isPattern = 'name' in key && key.name === 'pattern' && value.type === 'Literal'
        if (isPattern && typeof value.value === 'string') add(value.value, 'u')
      },
    }).visit(parseSync(file, readFileSync(join(ROOT, file), 'utf8')).program)
  }
  return found
}

const parts = (expression: string): readonly [pattern: string, flags: string] => {
  const end = expression.lastIndexOf('/')
  return [expression.slice(1, end), expression.slice(end + 1)]
}

test('every expression takes linear time, or its input is short', async () => {
  const found = expressionsOf()
  const known = new Set([...KNOWN.safe, ...Object.keys(KNOWN.shortInput)])
  const unsafe: string[] = []
  for (const [expression, file] of found) {
    if (known.has(expression)) continue
    const { status } = await check(...parts(expression), { timeout: 10_000 })
    if (status !== 'safe') unsafe.push(`${file}: ${expression} is ${status}`)
  }
  expect(unsafe).toEqual([])
  expect(Object.keys(KNOWN.shortInput).filter((expression) => !found.has(expression))).toEqual([])
})

test('recheck tells a quadratic expression from a linear one', () => {
  const statusOf = (pattern: string): string => checkSync(pattern, '').status
  expect([statusOf('^\\s*x\\s*=\\s*([^"\\s]*)\\s*$'), statusOf('^\\s*x=([^"\\s]*)$')]).toEqual(['vulnerable', 'safe'])
})
