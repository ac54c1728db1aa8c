import { type InstalledPackage, installPackage, snippetsIn } from './installed-package.ts'

const NAME = '@switchhook/receiver'
const MAX_BYTES = 5 * 1_024

let packed: InstalledPackage
beforeAll(() => {
  packed = installPackage('packages/products/receiver', ['@switchhook/client', 'fastify'])
})
afterAll(() => packed.remove())

const USE = `
const { fetch } = createReceiver({ secrets: 'whsec_' + 'A'.repeat(44), store: sqliteStore(new DatabaseSync(':memory:')), on: {} })
fetch(new Request('http://localhost', { method: 'POST' })).then(({ status }) => console.log(status))
`

test('it works in an ESM and a CJS project, its stores included', () => {
  const esm = `import { createReceiver } from '${NAME}'\nimport { sqliteStore } from '${NAME}/sqlite'\nimport { DatabaseSync } from 'node:sqlite'\nimport '${NAME}/postgres'\nimport '${NAME}/redis'\n`
  const cjs = `const { createReceiver } = require('${NAME}')\nconst { sqliteStore } = require('${NAME}/sqlite')\nconst { DatabaseSync } = require('node:sqlite')\nrequire('${NAME}/postgres')\nrequire('${NAME}/redis')\n`
  expect(packed.execute('esm', esm + USE)).toBe('401\n')
  expect(packed.execute('cjs', cjs + USE)).toBe('401\n')
})

/** What the snippets of the guide take for granted. */
const PRELUDE = `
import { createReceiver, memoryStore, Reject, type Receiver } from '${NAME}'
import type { Client } from '@switchhook/client'
declare const receiver: Receiver
declare const client: Client
declare const secrets: string
`

const FASTIFY = `
import fastify from 'fastify'
void fastify().register(receiver.fastify, { prefix: '/hooks' })
`

test('its types, and the snippets of its README and its guide, compile under TypeScript 5.9 and 7', () => {
  const pages = ['packages/products/receiver/README.md', 'docs/receiver.md'].map((page) =>
    snippetsIn(page, NAME, PRELUDE),
  )
  for (const page of pages) expect(page.length).toBeGreaterThan(0)
  const versions = [expect.stringContaining(' 5.9.'), expect.stringContaining(' 7.')]
  expect(packed.compile('esm', [...pages.flat(), PRELUDE + FASTIFY])).toEqual(versions)
  expect(packed.compile('cjs', [`import { createReceiver } from '${NAME}'\nvoid createReceiver\n`])).toEqual(versions)
})

test('bundled for a worker without a store of its own, it is at most 5 KB and imports nothing of Node', () => {
  const used = 'createReceiver, Reject'
  const { text, gzipBytes } = packed.bundle(`import { ${used} } from '${NAME}'\nglobalThis.used = [${used}]\n`)
  expect(text).not.toMatch(/['"`]node:|\bBuffer\b|\bprocess\./)
  expect(gzipBytes).toBeLessThanOrEqual(MAX_BYTES)
})

test('publint and attw find nothing, and the package holds only what is needed', () => {
  packed.lint()
  const needed = /^package\/(package\.json|README\.md|dist\/.*(?<!\.test)\.(js|d\.ts))$/
  expect(packed.files.filter((name) => !needed.test(name))).toEqual([])
})
