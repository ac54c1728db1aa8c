import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './process/free-port.ts'
import { rememberPorts } from './remember-ports.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ports-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

const file = (): string => join(folder, 'sub', 'ports.json')

test('reuses a port while it is free and gives each name its own', async () => {
  const first = await rememberPorts(file(), { one: 0, two: 0 })
  expect(first.one).not.toBe(first.two)
  await expect(rememberPorts(file(), { one: 0, two: 0 })).resolves.toEqual(first)
})

test('gives no port twice, although nothing listens on it yet', async () => {
  const ports = new Set<number>()
  for (let n = 0; n < 1_000; n++) ports.add(await freePort())
  expect(ports.size).toBe(1_000)
})

const EPHEMERAL = '/proc/sys/net/ipv4/ip_local_port_range'

;(existsSync(EPHEMERAL) ? test : test.skip)('assigns no port that the kernel may give to a connection', async () => {
  const [first = 0, last = 0] = readFileSync(EPHEMERAL, 'utf8').trim().split(/\s+/).map(Number)
  const names = Array.from({ length: 50 }, (_, n) => [`port-${n}`, 0])
  const ports = Object.values(await rememberPorts(file(), Object.fromEntries(names)))
  expect(ports.filter((port) => port >= first && port <= last)).toEqual([])
})

test('replaces a port that another process has taken, unless the server itself is still running', async () => {
  const { one } = await rememberPorts(file(), { one: 0 })
  const somebody = createServer().listen(one, '127.0.0.1')
  await once(somebody, 'listening')
  try {
    await expect(rememberPorts(file(), { one: 0 }, new Set(['one']))).resolves.toEqual({ one })
    expect((await rememberPorts(file(), { one: 0 })).one).not.toBe(one)
  } finally {
    somebody.close()
  }
})

test('assigns a wanted port, and to one name only', async () => {
  const { one: wanted } = await rememberPorts(file(), { one: 0 })
  const ports = await rememberPorts(file(), { other: wanted, one: 0 })
  expect(ports.other).toBe(wanted)
  expect(ports.one).not.toBe(wanted)
})
