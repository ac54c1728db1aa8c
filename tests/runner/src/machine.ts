import { execFile } from 'node:child_process'
import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, loadavg, release, tmpdir, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { rabbitmqVersion } from '@switchhook/test-servers'

const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`

/** In one line: load and memory. */
export const machineLine = (): string =>
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')} on ${availableParallelism()} cores, ${gigabytes(freeMemory())} of ${gigabytes(totalmem())} memory free`

/** `freemem` does not count what the kernel can free at any time. */
const freeMemory = (): number => availableIn(readOrEmpty('/proc/meminfo')) ?? freemem()

/** In bytes, of proc_meminfo(5). */
export function availableIn(meminfo: string): number | undefined {
  const available = /^MemAvailable: +(\d+) kB/m.exec(meminfo)?.[1]
  return available === undefined ? undefined : Number(available) * 1024
}

/** What decides whether tests pass: load, memory, disks, ports, versions and the user's settings. */
export async function machineState(): Promise<readonly string[]> {
  const places = [tmpdir(), '/dev/shm'].flatMap((place) => freeIn(place))
  const versions = await Promise.all(
    [
      ['redis-server', '--version'],
      ['chromium-headless-shell', '--version'],
      ['docker', 'version', '--format', '{{.Server.Version}}'],
    ].map(async ([name = '', ...args]) => `${name} ${await lastLineOf(name, args)}`),
  )
  const system = /^PRETTY_NAME="?(.*?)"?$/m.exec(readOrEmpty('/etc/os-release'))?.[1] ?? process.platform
  const user = `user ${process.getuid?.() ?? '?'}, umask ${process.umask().toString(8).padStart(4, '0')}`
  return [
    machineLine(),
    `free disk: ${places.join(', ')}`,
    ports(),
    `${system}, kernel ${release()}, node ${process.version}, RabbitMQ ${rabbitmqVersion() ?? '?'}, ${versions.join(', ')}`,
    `${user}, time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`,
  ]
}

function freeIn(place: string): string[] {
  try {
    const { bavail, bsize } = statfsSync(place)
    return [`${place} ${gigabytes(bavail * bsize)}`]
  } catch {
    return []
  }
}

const ports = (): string =>
  portsIn(['/proc/net/tcp', '/proc/net/tcp6'].map(readOrEmpty), readOrEmpty('/proc/sys/net/ipv4/ip_local_port_range'))

/** The states of sockets in proc_pid_net(5): 0A listens, and all others use a port for a connection. */
export function portsIn(tables: readonly string[], portRange: string): string {
  const lines = tables.flatMap((table) => table.trim().split('\n').slice(1))
  const listening = lines.filter((line) => line.trim().split(/\s+/)[3] === '0A').length
  const [first = 0, last = 0] = portRange.split(/\s+/).map(Number)
  const range = last > 0 ? `, of ${last - first + 1} for connections` : ''
  return `ports: ${listening} listen, ${lines.length - listening} in connections${range}`
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

async function lastLineOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: 10_000 }).catch(() => ({ stdout: '' }))
  return stdout.trim().split('\n').at(-1) || '(not found)'
}
