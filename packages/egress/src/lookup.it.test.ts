import { createSocket, type Socket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answerWithin } from '@switchhook/runtime'
import { eventually, temporaryFolder } from '@switchhook/testkit'
import { createLookup, type Lookup, NO_NAME_SERVER } from './lookup.ts'

const TIMEOUT_MS = 200
/** A timeout that a busy machine does not reach, and an answer that comes later than IPv6 is waited for. */
const PATIENT_MS = 2_000
const LATE_MS = 150
const PUBLIC = [93, 184, 215, 14]
const guard = { allows: (address: string) => !address.startsWith('10.') }

/** Types of records. */
const A = 1
const AAAA = 28

/** The A records of the test's name servers. */
const KNOWN: Readonly<Record<string, number[][]>> = {
  'client.example': [[127, 0, 0, 1]],
  'v4.example': [PUBLIC],
  'both.example': [PUBLIC],
  'guarded.example': [[10, 0, 0, 1]],
  // A public host, and a Service of Kubernetes.
  'web.dev': [PUBLIC],
  'web.dev.svc.cluster.local': [[127, 0, 0, 9]],
  'app.corp.example': [[127, 0, 0, 8]],
  'app.corp.example.corp.example': [[10, 0, 0, 8]],
}
const PUBLIC_V6 = [0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1]
const KNOWN_V6: Readonly<Record<string, number[][]>> = {
  'v6.example': [PUBLIC_V6],
  'both.example': [PUBLIC_V6],
  'guarded.example': [PUBLIC_V6],
}

let nameServer: Socket
let questions: string[]
let folder: string
let lookup: Lookup
/** When questions such as `v4.example 28` are answered, in ms. Infinity: never. */
let answeredAfterMs: Record<string, number>
/** Answers that are still to come. */
let late: Set<NodeJS.Timeout>
/** Questions that the name server answers with SERVFAIL. */
let failing: Set<string>

beforeEach(async () => {
  questions = []
  answeredAfterMs = {}
  failing = new Set()
  late = new Set()
  folder = temporaryFolder('lookup-')
  nameServer = createSocket('udp4', (question, from) => {
    const { name, type } = parseQuestion(question)
    questions.push(`${name} ${type}`)
    // The first answer says that the name does not exist.
    const isSilent =
      name.startsWith('silent') ||
      (name.startsWith('once') && questions.filter((one) => one === `${name} ${type}`).length > 1)
    const afterMs = isSilent ? Infinity : (answeredAfterMs[`${name} ${type}`] ?? 0)
    const addresses = (type === A ? KNOWN : KNOWN_V6)[name] ?? []
    const answer = (): void => nameServer.send(answerTo(question, type, addresses), from.port, from.address)
    if (afterMs === 0) answer()
    else if (afterMs < Infinity) late.add(setTimeout(answer, afterMs))
  })
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
  lookup = lookupWithin(TIMEOUT_MS)
})

afterEach(() => {
  for (const timer of late) clearTimeout(timer)
  nameServer.close()
  rmSync(folder, { recursive: true, force: true })
})

/** @param timeoutMs of one query */
const lookupWithin = (timeoutMs: number, hasIpv4 = true, servers: readonly Socket[] = [nameServer]): Lookup =>
  createLookup({
    guard,
    timeoutMs,
    hasIpv4,
    servers: servers.map((server) => `127.0.0.1:${server.address().port}`),
    files: { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') },
  })

/** Replaces a file of the resolver, as the kubelet does: in one step, with a new file. */
async function write(file: 'hosts' | 'resolv.conf', text: string): Promise<void> {
  await writeFile(join(folder, `${file}.new`), text)
  await rename(join(folder, `${file}.new`), join(folder, file))
}

const find: Lookup = (name) => lookup(name)

test('a name has the addresses that its name server returns', async () => {
  await expect(find('client.example')).resolves.toEqual(['127.0.0.1'])
})

const V4 = PUBLIC.join('.')
const V6 = '2001:db8::1'

test('a name server that drops queries for IPv6 does not delay IPv4', async () => {
  const timeoutMs = 2_000
  lookup = lookupWithin(timeoutMs)
  answeredAfterMs[`v4.example ${AAAA}`] = Infinity
  await expect(answerWithin(timeoutMs / 2, find('v4.example'), 'late')).resolves.toEqual([V4])
})

test.each<[string, boolean, number]>([
  ['IPv4 is waited for, because the host may have no IPv6', true, A],
  ['on a host without IPv4, IPv6 is waited for', false, AAAA],
])('%s', async (_rule, hasIpv4, late) => {
  lookup = lookupWithin(PATIENT_MS, hasIpv4)
  answeredAfterMs[`both.example ${late}`] = LATE_MS
  await expect(find('both.example')).resolves.toEqual([V4, V6])
})

test.each([A, AAAA])('the IPv4 addresses come first, also if the answer for type %s is the later one', async (type) => {
  answeredAfterMs[`both.example ${type}`] = 5
  await expect(find('both.example')).resolves.toEqual([V4, V6])
})

test('an answer with only blocked addresses does not shorten the wait for the other family', async () => {
  lookup = lookupWithin(PATIENT_MS)
  answeredAfterMs[`guarded.example ${AAAA}`] = LATE_MS
  await expect(find('guarded.example')).resolves.toEqual(['10.0.0.1', V6])
})

test('many names without an answer delay no other name', async () => {
  let isOver = false
  const silent = Array.from({ length: 50 }, (_, n) =>
    find(`silent${n}.example`).catch((error: unknown) => {
      isOver = true
      return error
    }),
  )
  await expect(find('client.example')).resolves.toHaveLength(1)
  expect(isOver).toBe(false)
  for (const error of await Promise.all(silent)) expect(error).toMatchObject({ code: 'ETIMEOUT' })
})

test.each([60_000, 1])('a failed look-up is repeated only after a while: %i ms', async (forgetFailureMs) => {
  const own = createLookup({
    guard,
    timeoutMs: TIMEOUT_MS,
    forgetFailureMs,
    servers: [`127.0.0.1:${nameServer.address().port}`],
  })
  const ask = (): Promise<unknown> => own('silent.example').catch((error: unknown) => error)
  await expect(ask()).resolves.toMatchObject({ code: 'ETIMEOUT' })
  const asked = questions.length
  await expect(ask()).resolves.toMatchObject({ code: 'ETIMEOUT' })
  if (forgetFailureMs > 1) return expect(questions).toHaveLength(asked)
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

describe('the hosts file', () => {
  test('decides before the name servers, whatever the case of the name', async () => {
    await write('hosts', '127.0.0.1 localhost\n127.0.0.7 other Web.Dev # split horizon\n')
    for (const name of ['web.dev', 'WEB.Dev']) await expect(find(name)).resolves.toEqual(['127.0.0.7'])
    expect(questions).toEqual([])
  })

  test('is read again when it has changed', async () => {
    await expect(find('web.dev')).resolves.toEqual([V4])
    await write('hosts', '127.0.0.7 web.dev\n')
    await expect(find('web.dev')).resolves.toEqual(['127.0.0.7'])
    await write('hosts', '127.0.0.8 web.dev\n')
    await expect(find('web.dev')).resolves.toEqual(['127.0.0.8'])
    await write('hosts', '')
    await expect(find('web.dev')).resolves.toEqual([V4])
  })

  test('helps a name that failed a moment ago', async () => {
    await expect(find('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await write('hosts', '127.0.0.7 unknown.example\n')
    await expect(find('unknown.example')).resolves.toHaveLength(1)
  })
})

describe('the search list', () => {
  const KUBERNETES = 'search prod.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n'

  test('a name with few dots is the Service of Kubernetes, not the public host', async () => {
    await write('resolv.conf', KUBERNETES)
    await expect(find('web.dev')).resolves.toEqual(['127.0.0.9'])
    expect(questions).not.toContain(`web.dev ${A}`)
  })

  test('a name that is below no search domain is asked for as it is, at the end', async () => {
    await write('resolv.conf', KUBERNETES)
    await expect(find('v4.example')).resolves.toEqual([V4])
    expect(questions.filter((question) => question.endsWith(` ${A}`))).toHaveLength(4)
  })

  test('a name with a dot at its end is complete', async () => {
    await write('resolv.conf', KUBERNETES)
    await expect(find('web.dev.')).resolves.toEqual([V4])
  })

  test('a domain that can be in no name is passed over, as the system does', async () => {
    await write('resolv.conf', 'search corp.example # svc.cluster.local\noptions ndots:5\n')
    await expect(find('web.dev')).resolves.toEqual(['127.0.0.9'])
  })

  test('a name with enough dots is first asked for as it is', async () => {
    await write('resolv.conf', 'search corp.example\n')
    await expect(find('app.corp.example')).resolves.toEqual(['127.0.0.8'])
    await expect(find('app')).resolves.toEqual(['127.0.0.8'])
  })

  test.each([
    ['does not answer', Infinity],
    ['fails', 'SERVFAIL'],
  ] as const)('no public host gets what is meant for a Service while its name server %s', async (_how, answer) => {
    await write('resolv.conf', KUBERNETES)
    for (const type of [A, AAAA]) {
      if (answer === 'SERVFAIL') failing.add(`web.dev.svc.cluster.local ${type}`)
      else answeredAfterMs[`web.dev.svc.cluster.local ${type}`] = answer
    }
    await expect(find('web.dev')).rejects.toMatchObject({ code: answer === 'SERVFAIL' ? 'ESERVFAIL' : 'ETIMEOUT' })
    expect(questions).not.toContain(`web.dev ${A}`)
  })

  test('a name server that drops queries for IPv6 delays no name', async () => {
    const timeoutMs = 2_000
    lookup = lookupWithin(timeoutMs)
    await write('resolv.conf', KUBERNETES)
    for (const name of [
      'v4.example',
      ...['prod.svc', 'svc', ''].map((at) => `v4.example.${at}.cluster.local`.replace('..', '.')),
    ])
      answeredAfterMs[`${name} ${AAAA}`] = Infinity
    await expect(answerWithin(timeoutMs / 2, find('v4.example'), 'late')).resolves.toEqual([V4])
  })
})

test('no name holds a thread of the process: none is looked up by the system', async () => {
  const asked = jest.spyOn(dns.promises, 'lookup')
  const names = Array.from({ length: 12 }, (_, n) => find(`once${n}.example`).catch((error: unknown) => error))
  for (const error of await Promise.all(names)) expect(error).toMatchObject({ code: 'ENOTFOUND' })
  expect(asked).not.toHaveBeenCalled()
})

test('a look-up has a deadline over all of its questions', async () => {
  await write(
    'resolv.conf',
    `search ${Array.from({ length: 6 }, (_, n) => `slow${n}.example`).join(' ')}\noptions ndots:5\n`,
  )
  for (let n = 0; n < 6; n += 1)
    for (const type of [A, AAAA]) answeredAfterMs[`client.example.slow${n}.example ${type}`] = 0.8 * TIMEOUT_MS
  // Each question is answered in time, so only the deadline over all of them ends the look-up.
  await expect(find('client.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
})

test.each(['localhost', 'app.localhost', 'Deep.App.LOCALHOST', 'localhost.'])('%s is this machine', async (name) => {
  await write('resolv.conf', 'search example\noptions ndots:5\n')
  await expect(find(name)).resolves.toEqual(['127.0.0.1', '::1'])
  expect(questions).toEqual([])
})

test('an unknown name is not found', async () => {
  await expect(find('unknown.invalid')).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as string,
  })
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

/** Of an answer: there is one, the server failed, or the name does not exist. */
function flagsOf(name: string, type: number, count: number): number {
  if (failing.has(`${name} ${type}`)) return 0x8182
  return count > 0 || name === 'client.example' ? 0x8180 : 0x8183
}

/** RFC 1035, section 4.1: the header and the question again, then the records; without any, the name does not exist. */
function answerTo(question: Buffer, type: number, addresses: readonly number[][]): Buffer {
  const { name, end } = parseQuestion(question)
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(flagsOf(name, type, addresses.length), 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]),
  )
  return Buffer.concat([header, question.subarray(12, end), ...records])
}

/** RFC 1035, section 4.1.1: the codes of answers. */
const SERVFAIL = 2
const NOTIMP = 4
const REFUSED = 5

test('a name server that cannot be reached is no refusal of the host', async () => {
  const gone = createSocket('udp4').bind(0, '127.0.0.1')
  await once(gone, 'listening')
  lookup = lookupWithin(PATIENT_MS, true, [gone])
  gone.close()
  await expect(find('v4.example')).rejects.toMatchObject({ code: NO_NAME_SERVER })
})

describe('with a second name server', () => {
  /** Answers each question with its code. */
  let ill: Socket
  let code: number
  beforeEach(async () => {
    ill = createSocket('udp4', (question, from) => ill.send(failureOf(question, code), from.port, from.address))
    ill.bind(0, '127.0.0.1')
    await once(ill, 'listening')
  })
  afterEach(() => void ill.close())

  test.each([
    ['fails', SERVFAIL],
    ['does not know the question', NOTIMP],
    ['refuses', REFUSED],
  ])('a first one that %s leads to it', async (_how, answer) => {
    code = answer
    lookup = lookupWithin(PATIENT_MS, true, [ill, nameServer])
    await expect(find('both.example')).resolves.toEqual([V4, V6])
    await expect(find('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('it is left again for the first one, which missed a question before', async () => {
    code = SERVFAIL
    lookup = lookupWithin(TIMEOUT_MS, true, [nameServer, ill])
    // After this, c-ares begins with the other one.
    await expect(find('silent.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    await expect(find('both.example')).resolves.toEqual([V4, V6])
  })

  test('if no name server helps, the lookup fails', async () => {
    code = SERVFAIL
    for (const type of [A, AAAA]) failing.add(`both.example ${type}`)
    lookup = lookupWithin(PATIENT_MS, true, [ill, nameServer])
    await expect(find('both.example')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })
})

function failureOf(question: Buffer, code: number): Buffer {
  const answer = Buffer.from(question)
  answer.writeUInt16BE(0x8180 | code, 2)
  return answer
}
