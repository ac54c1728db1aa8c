import { type Receiver, startReceiver } from './receiver.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

let receiver: Receiver
let proxy: TcpProxy

beforeEach(async () => {
  receiver = await startReceiver({ status: 200, body: 'x'.repeat(1_000_000) })
  proxy = await startTcpProxy(receiver.url('/hook'))
})

afterEach(async () => {
  await proxy.close()
  await receiver.close()
})

test('forwards every byte', async () => {
  expect(proxy.url).toBe(`http://127.0.0.1:${proxy.port}/hook`)
  const response = await fetch(proxy.url, { headers: { connection: 'close' } })
  expect(await response.text()).toHaveLength(1_000_000)
})

test('cut resets open connections and accepts new ones', async () => {
  receiver.answer('/hook', [{ instead: 'hang' }, {}])
  const cutOff = fetch(proxy.url).catch((error: unknown) => error)
  await receiver.waitFor(1)
  expect(proxy.connections()).toBe(1)
  proxy.cut()
  expect(await cutOff).toMatchObject({ message: 'fetch failed' })
  expect((await fetch(proxy.url)).status).toBe(204)
})

test('refuse resets every connection until accept', async () => {
  proxy.refuse()
  await expect(fetch(proxy.url)).rejects.toThrow('fetch failed')
  expect(receiver.requests()).toEqual([])
  proxy.accept()
  expect((await fetch(proxy.url)).status).toBe(200)
})

test('cutWhen resets one connection, at the first matching chunk', async () => {
  proxy.cutWhen((chunk, direction) => direction === 'toServer' && chunk.includes('POST'))
  expect((await fetch(proxy.url)).status).toBe(200)
  await expect(fetch(proxy.url, { method: 'POST', headers: { connection: 'close' } })).rejects.toThrow('fetch failed')
  expect((await fetch(proxy.url, { method: 'POST' })).status).toBe(200)
})

test('alter changes the data in one direction', async () => {
  proxy.alter((chunk, direction) =>
    direction === 'toClient' ? Buffer.from(chunk.toString('latin1').replaceAll('x', 'y'), 'latin1') : chunk,
  )
  const response = await fetch(proxy.url, { method: 'POST', body: 'xxx', headers: { connection: 'close' } })
  expect(await response.text()).toBe('y'.repeat(1_000_000))
  expect(receiver.requests().map(({ body }) => body.toString())).toEqual(['xxx'])
})

test('freeze forwards nothing and closes nothing until thaw', async () => {
  proxy.freeze()
  const held = fetch(proxy.url)
  await expect(receiver.waitFor(1, undefined, { timeoutMs: 100 })).rejects.toThrow('0 of 1')
  proxy.thaw()
  expect((await held).status).toBe(200)
})

test('aim sends new connections to another server', async () => {
  const other = await startReceiver({ status: 201 })
  proxy.aim(other.url())
  expect((await fetch(proxy.url)).status).toBe(201)
  await other.close()
})
