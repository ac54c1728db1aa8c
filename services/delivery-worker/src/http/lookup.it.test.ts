import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { hostname } from 'node:os'
import { eventually } from '@switchhook/testkit'
import { createLookup } from './lookup.ts'

const TIMEOUT_MS = 200
const PUBLIC = [93, 184, 215, 14]
const guard = { allows: (address: string) => !address.startsWith('10.') }

/** The A records of the test's name servers. */
const KNOWN: Readonly<Record<string, number[][]>> = {
  'client.example': [[127, 0, 0, 1]],
  'inside.example': [[10, 0, 0, 1]],
  'mixed.example': [[10, 0, 0, 1], PUBLIC],
}

let nameServer: Socket
let questions: string[]
let lookup: LookupFunction

beforeEach(async () => {
  questions = []
  nameServer = createSocket('udp4', (question, from) => {
    const { name, type } = parseQuestion(question)
    questions.push(`${name} ${type}`)
    if (name.startsWith('silent')) return
    const addresses = type === 1 ? (KNOWN[name] ?? []) : []
    nameServer.send(answerTo(question, addresses), from.port, from.address)
  })
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
  lookup = createLookup({ guard, timeoutMs: TIMEOUT_MS, servers: [`127.0.0.1:${nameServer.address().port}`] })
})

afterEach(() => nameServer.close())

const find = (name: string, family: 0 | 4 | 6 = 0): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true, family }, (error, addresses) => {
      if (error === null) resolve(addresses as LookupAddress[])
      else reject(error)
    })
  })

test('a name has the addresses that its name server returns', async () => {
  await expect(find('client.example')).resolves.toEqual([{ address: '127.0.0.1', family: 4 }])
})

test('many names without an answer delay no other name', async () => {
  const silent = Array.from({ length: 50 }, (_, n) => find(`silent${n}.example`).catch((error: unknown) => error))
  const startedAt = performance.now()
  await expect(find('client.example')).resolves.toHaveLength(1)
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS)
  for (const error of await Promise.all(silent)) expect(error).toMatchObject({ code: 'ETIMEOUT' })
})

test('a failed look-up is repeated only after a while', async () => {
  const own = createLookup({
    guard,
    timeoutMs: TIMEOUT_MS,
    forgetFailureMs: 300,
    servers: [`127.0.0.1:${nameServer.address().port}`],
  })
  const ask = (): Promise<unknown> =>
    new Promise((resolve) => own('silent.example', { all: true }, (error) => resolve(error)))
  await expect(ask()).resolves.toMatchObject({ code: 'ETIMEOUT' })
  const asked = questions.length
  const startedAt = performance.now()
  await expect(ask()).resolves.toMatchObject({ code: 'ETIMEOUT' })
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS / 2)
  expect(questions).toHaveLength(asked)
  await eventually(async () => {
    await ask()
    expect(questions.length).toBeGreaterThan(asked)
  })
})

test('concurrent look-ups of one name share a query', async () => {
  await Promise.all(Array.from({ length: 20 }, () => find('client.example')))
  expect(questions.filter((question) => question === 'client.example 1')).toHaveLength(1)
  await find('client.example')
  expect(questions.filter((question) => question === 'client.example 1')).toHaveLength(2)
})

test('a name that the name servers do not know is looked up by the system', async () => {
  await expect(find(hostname())).resolves.not.toHaveLength(0)
  expect(questions).not.toHaveLength(0)
})

test('localhost is never sent to a name server', async () => {
  await expect(find('localhost', 4)).resolves.toEqual([{ address: '127.0.0.1', family: 4 }])
  expect(questions).toEqual([])
})

test('an unknown name, or one without an address of the requested family, is not found', async () => {
  await expect(find('unknown.invalid')).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as string,
  })
  await expect(find('client.example', 6)).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

/** RFC 1035, section 4.1.2: labels, then the type. */
function parseQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** RFC 1035, section 4.1: the header and the question again, then A records; without any, the name does not exist. */
function answerTo(question: Buffer, addresses: readonly number[][]): Buffer {
  const { name, end } = parseQuestion(question)
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(addresses.length > 0 || name.startsWith('client') ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  const records = addresses.map((address) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]))
  return Buffer.concat([header, question.subarray(12, end), ...records])
}

test('a name with only blocked addresses is blocked, and the system is not asked instead', async () => {
  await expect(find('inside.example')).rejects.toMatchObject({ code: 'ERR_BLOCKED_ADDRESS' })
})

test('blocked addresses are removed from the result', async () => {
  await expect(find('mixed.example')).resolves.toEqual([{ address: PUBLIC.join('.'), family: 4 }])
})
