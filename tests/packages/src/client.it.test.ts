import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type PackedPackage, packPackage, repository, runProgram as run } from './packed-package.ts'

/** The package as `pnpm pack` makes it, installed into an empty ESM and an empty CJS project. */
const own = join(repository, 'packages/client')
const MAX_BYTES = 6 * 1_024

let folder: string
let packed: PackedPackage
const project = (kind: string): string => join(folder, kind)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'client-package-'))
  packed = packPackage(own, join(folder, 'packed'))
  for (const kind of ['esm', 'cjs']) {
    packed.install(join(project(kind), 'node_modules/@switchhook/client'))
    symlinkSync(
      realpathSync(join(own, 'node_modules/eventsource-parser')),
      join(project(kind), 'node_modules/eventsource-parser'),
    )
    writeFileSync(join(project(kind), 'package.json'), JSON.stringify({ type: kind === 'esm' ? 'module' : 'commonjs' }))
  }
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true }))

const ALL =
  "const client = createClient({ baseUrl: 'http://localhost' })\nvoid client.calls.dial\nconsole.log(CallState.ended)\n"

test('it works in an ESM and a CJS project', () => {
  writeFileSync(join(project('esm'), 'use.js'), `import { CallState, createClient } from '@switchhook/client'\n${ALL}`)
  writeFileSync(
    join(project('cjs'), 'use.js'),
    `const { CallState, createClient } = require('@switchhook/client')\n${ALL}`,
  )
  for (const kind of ['esm', 'cjs']) expect(run(project(kind), process.execPath, 'use.js')).toBe('7\n')
})

/** What an application uses. The other tables of numbers are left out of its bundle. */
const USED = 'createClient, clientCredentials, NoAnswer, SignInFailed, SwitchhookError, CallState'

/** Each `ts` block of a page, as a module. A block without an import gets the client and all exports. */
function snippets(page: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const names = 'type Client, clientCredentials, createClient, NoAnswer, SignInFailed, SwitchhookError'
  const prelude = `import { ${names} } from '@switchhook/client'\ndeclare const client: Client\n`
  return blocks.map((code) => (/^import .*@switchhook\/client/m.test(code) ? code : prelude + code))
}

const COMPILERS = [join(own, 'node_modules/.bin/tsc'), join(repository, 'node_modules/.bin/tsc')]

test('its types, and the snippets of its README and its guide, compile under TypeScript 5.9 and 7', () => {
  const pages = ['packages/client/README.md', 'docs/client.md'].map((page) => snippets(join(repository, page)))
  for (const page of pages) expect(page.length).toBeGreaterThan(2)
  const esm = pages.flat()
  for (const [at, code] of esm.entries()) writeFileSync(join(project('esm'), `snippet-${at}.ts`), code)
  writeFileSync(join(project('cjs'), 'use.ts'), `import { CallState, createClient } from '@switchhook/client'\n${ALL}`)
  symlinkSync(join(repository, 'node_modules/@types'), join(project('esm'), 'node_modules/@types'))
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023']
  for (const tsc of COMPILERS) {
    const node = [...strict, '--module', 'nodenext', '--lib', 'es2024', '--types', 'node']
    run(project('esm'), tsc, ...node, ...esm.map((_code, at) => `snippet-${at}.ts`))
    run(project('cjs'), tsc, ...strict, '--module', 'nodenext', '--lib', 'es2023,dom', 'use.ts')
  }
  const versions = COMPILERS.map((tsc) => run(folder, tsc, '--version'))
  expect(versions).toEqual([expect.stringContaining(' 5.9.'), expect.stringContaining(' 7.')])
}, 120_000)

test('bundled for a browser, it is at most 6 KB and imports nothing of Node', () => {
  const entry = join(project('esm'), 'browser.js')
  writeFileSync(entry, `import { ${USED} } from '@switchhook/client'\nglobalThis.used = [${USED}]\n`)
  const lib = { entry, formats: ['iife'], name: 'client', fileName: 'bundle' }
  const config = {
    root: project('esm'),
    configFile: false,
    logLevel: 'error',
    build: { lib, outDir: 'out', minify: true },
  }
  writeFileSync(
    join(own, 'node_modules/bundle.mjs'),
    `import { build } from 'vite'\nawait build(${JSON.stringify(config)})\n`,
  )
  run(own, process.execPath, 'node_modules/bundle.mjs')
  const bundle = readFileSync(join(project('esm'), 'out/bundle.iife.js'))
  expect(bundle.toString()).not.toMatch(/\bnode:|\bBuffer\b|\bprocess\./)
  expect(gzipSync(bundle, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES)
}, 60_000)

test('publint finds nothing, and the package holds only what is needed', () => {
  run(own, join(own, 'node_modules/.bin/publint'), 'run', packed.tarball, '--strict')
  expect(
    packed.names.filter((name) => !/^package\/(package\.json|README\.md|dist\/.*(?<!\.test)\.(js|d\.ts))$/.test(name)),
  ).toEqual([])
})
