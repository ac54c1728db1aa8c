import { spawnSync } from 'node:child_process'
import { type InstalledPackage, installPackage, snippetsIn } from './installed-package.ts'

const NAME = '@switchhook/client'
const MAX_BYTES = 6_400

let packed: InstalledPackage
beforeAll(() => {
  packed = installPackage('packages/products/client', ['eventsource-parser'])
})
afterAll(() => packed.remove())

const ALL =
  "const client = createClient({ baseUrl: 'http://localhost' })\nvoid client.calls.dial\nconsole.log(CallState.ended)\n"

const IN_ESM = `import { CallState, createClient } from '${NAME}'\n${ALL}`

test('it works in an ESM and a CJS project', () => {
  expect(packed.execute('esm', IN_ESM)).toBe('7\n')
  expect(packed.execute('cjs', `const { CallState, createClient } = require('${NAME}')\n${ALL}`)).toBe('7\n')
})

for (const runtime of ['deno', 'bun']) {
  const isInstalled = spawnSync(runtime, ['--version']).status === 0
  const name = `it works under ${runtime}`
  ;(isInstalled ? test : test.skip)(isInstalled ? name : `${name} (${runtime} is not installed)`, () => {
    expect(packed.execute('esm', IN_ESM, runtime, 'run')).toBe('7\n')
  })
}

/** What an application uses. The other tables of numbers are left out of its bundle. */
const USED = 'createClient, clientCredentials, NoAnswer, SignInFailed, SwitchhookError, CallState'

test('its types, and the snippets of its README and its guide, compile under TypeScript 5.9 and 7', () => {
  const names = 'type Client, clientCredentials, createClient, NoAnswer, SignInFailed, SwitchhookError'
  const prelude = `import { ${names} } from '${NAME}'\ndeclare const client: Client\n`
  const pages = ['packages/products/client/README.md', 'docs/client.md'].map((page) => snippetsIn(page, NAME, prelude))
  for (const page of pages) expect(page.length).toBeGreaterThan(2)
  const versions = [expect.stringContaining(' 5.9.'), expect.stringContaining(' 7.')]
  expect(packed.compile('esm', pages.flat())).toEqual(versions)
  expect(packed.compile('cjs', [IN_ESM])).toEqual(versions)
})

test('bundled for a browser, it is some 6 KB and imports nothing of Node', () => {
  const { text, gzipBytes } = packed.bundle(`import { ${USED} } from '${NAME}'\nglobalThis.used = [${USED}]\n`)
  expect(text).not.toMatch(/\bnode:|\bBuffer\b|\bprocess\./)
  expect(gzipBytes).toBeLessThanOrEqual(MAX_BYTES)
})

test('publint and attw find nothing, and the package holds only what is needed', () => {
  packed.lint()
  const needed = /^package\/(package\.json|README\.md|dist\/.*(?<!\.test)\.(js|d\.ts))$/
  expect(packed.files.filter((name) => !needed.test(name))).toEqual([])
})
