import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
