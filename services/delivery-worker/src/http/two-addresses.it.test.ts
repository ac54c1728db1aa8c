import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Outcome } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { answerWithin } from '@switchhook/runtime'
import { aDelivery, type LateListener, type Receiver, startLateListener, startReceiver } from '@switchhook/testkit'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'

const guard = createAddressGuard(['127.0.0.0/8', '::1/128'])
const delivered: Outcome = { kind: 'delivered', status: 204 }

let late: LateListener
let client: TestPostClient
let addresses: string[]

const lookup = async (): Promise<string[]> => addresses

const aClient = (timeoutMs: number): TestPostClient => aPostClient({ timeoutMs, maxSockets: 10, guard, lookup })
const post = (port: number): Promise<Outcome> => client.post(aDelivery({ url: `http://two.example:${port}/` }), 1)

beforeEach(async () => {
  late = await startLateListener()
  client = aClient(10_000)
})

afterEach(async () => {
  await client.close()
  await late.close()
})

test('only the allowed addresses of a name are connected to', async () => {
  const receiver: Receiver = await startReceiver()
  const connect = jest.spyOn(Socket.prototype, 'connect')
  addresses = ['10.0.0.1', '127.0.0.1', '192.168.0.1']
  await expect(post(receiver.port)).resolves.toEqual(delivered)
  addresses = ['10.0.0.1', '192.168.0.1']
  const url = `http://blocked.example:${receiver.port}/`
  await expect(client.post(aDelivery({ url }), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'blocked' })
  const connected = connect.mock.calls.flat(2).map((given) => (given as { readonly host?: string } | null)?.host)
  connect.mockRestore()
  expect(connected.filter((host) => host !== undefined)).toEqual(['127.0.0.1'])
  await receiver.close()
})

/** A port at which another address listens, too, would be found only by chance: nothing listens at these. */
test.each([
  ['of the other family that refuses', ['127.0.0.1', '::1']],
  ['of its own family that refuses', ['127.0.0.1', '127.0.0.2']],
  ['that refuses first', ['127.0.0.3', '127.0.0.1', '127.0.0.2']],
  ['and the same again', ['127.0.0.1', '127.0.0.1']],
])('an address that accepts after a second gets the delivery, beside one %s', async (_name, all) => {
  addresses = all
  const posting = post(late.port)
  // Later than the delay after which the next address is tried, and before the kernel repeats the SYN.
  setTimeout(() => late.accept(), 500)
  await expect(posting).resolves.toEqual(delivered)
})

test('the next address is tried while the first one does not answer', async () => {
  const receiver: Receiver = await startReceiver({}, { host: '127.0.0.2', port: late.port })
  addresses = ['127.0.0.1', '127.0.0.2']
  await expect(answerWithin(2_000, post(late.port), 'late')).resolves.toEqual(delivered)
  await receiver.close()
})

test('an attempt that reaches no address in time names those that it tried', async () => {
  await client.close()
  client = aClient(700)
  addresses = ['127.0.0.1', '127.0.0.2']
  await expect(post(late.port)).resolves.toEqual({
    kind: 'unreachable',
    reason: 'timeout',
    detail: expect.stringContaining(`127.0.0.1:${late.port}`) as string,
  })
})

test('an attempt whose TLS handshake does not end in time says so', async () => {
  await client.close()
  client = aClient(300)
  addresses = ['127.0.0.1']
  const silent = createServer()
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as AddressInfo
  const outcome = await client.post(aDelivery({ url: `https://two.example:${port}/` }), 1)
  silent.close()
  const detail = 'the TLS handshake has not ended'
  expect(outcome).toEqual({ kind: 'unreachable', reason: 'timeout', detail })
})

test('an attempt says why it has no connection, also after another one to the endpoint was made', async () => {
  await client.close()
  const receiver: Receiver = await startReceiver()
  let lookUps = 0
  const first = (): Promise<string[]> => {
    lookUps += 1
    return lookUps === 1 ? wait(100, ['127.0.0.1']) : new Promise(() => {})
  }
  client = aPostClient({ timeoutMs: 700, maxSockets: 10, guard, lookup: first })
  const outcomes = await Promise.all([post(receiver.port), post(receiver.port)])
  const detail = 'the look-up of the name has not ended'
  expect(outcomes).toEqual([delivered, { kind: 'unreachable', reason: 'timeout', detail }])
  await receiver.close()
})

test('an attempt that every address refuses names each', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  addresses = ['127.0.0.1', '::1']
  const outcome = await post(port)
  expect(outcome).toMatchObject({ kind: 'unreachable', reason: 'refused' })
  expect(outcome).toHaveProperty('detail', expect.stringContaining(`127.0.0.1:${port}`))
  expect(outcome).toHaveProperty('detail', expect.stringContaining(`[::1]:${port}`))
})
