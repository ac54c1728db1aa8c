import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type PackedPackage, packPackage, repository, runProgram } from './packed-package.ts'

/** The command as `pnpm pack` makes it, installed into an empty project with everything that it depends on. */
const own = join(repository, 'packages/products/cli')
const client = join(repository, 'packages/products/client')
const MAX_BYTES = 3 * 1_024 * 1_024

let folder: string
let packed: PackedPackage
const modules = (): string => join(folder, 'project/node_modules')

/** The folder of a package that another one depends on. */
const dependency = (of: string, name: string): string => realpathSync(join(of, 'node_modules', name))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-package-'))
  packed = packPackage(own, join(folder, 'cli'))
  packed.install(join(modules(), 'switchhook'))
  packPackage(client, join(folder, 'client')).install(join(modules(), '@switchhook/client'))
  const openid = dependency(own, 'openid-client')
  // pnpm puts the dependencies of a package beside it.
  const beside = (name: string): string => realpathSync(join(dirname(openid), name))
  const others = [dependency(own, 'commander'), openid, beside('jose'), beside('oauth4webapi')]
  for (const one of [...others, dependency(client, 'eventsource-parser')]) {
    cpSync(one, join(modules(), one.slice(one.lastIndexOf('node_modules/') + 'node_modules/'.length)), {
      recursive: true,
      dereference: true,
      filter: (path) => !path.endsWith('/node_modules'),
    })
  }
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true }))

test('it runs from an empty project, and is at most 3 MB with everything that it installs', () => {
  const command = join(modules(), 'switchhook/bin/switchhook.js')
  expect(runProgram(folder, process.execPath, command, '--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(runProgram(folder, process.execPath, command, 'calls', '--help')).toContain('dial')
  const bytes = readdirSync(modules(), { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(modules(), name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)
  expect(bytes).toBeGreaterThan(MAX_BYTES / 10)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})

test('publint finds nothing, and the package holds only what is needed', () => {
  runProgram(own, join(own, 'node_modules/.bin/publint'), 'run', packed.tarball, '--strict')
  const needed = /^package\/(package\.json|README\.md|bin\/switchhook\.js|dist\/.*(?<!\.test)\.js)$/
  expect(packed.names.filter((name) => !needed.test(name))).toEqual([])
})
