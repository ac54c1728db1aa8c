import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { eventually } from '@switchhook/testkit'
import express from 'express'
import { type EventOutput, openEventOutput } from './event-output.ts'

const READ_REST_MS = 200
/** More than the buffers of both sockets. */
const MUCH = ': '.padEnd(8_000_000, 'x')

let output: EventOutput
const app = express()
app.get('/', (_request, response) => {
  output = openEventOutput(response, READ_REST_MS)
  output.write(MUCH)
})
const server = app.listen(0)
const clients: Socket[] = []

afterAll(async () => {
  for (const client of clients) client.destroy()
  await once(server.close(), 'close')
})

async function request(): Promise<Socket> {
  const client = connect((server.address() as AddressInfo).port)
    .setNoDelay()
    .pause()
  clients.push(client)
  client.on('error', () => {})
  const requested = once(server, 'request')
  client.write('GET / HTTP/1.1\r\nHost: api\r\n\r\n')
  await requested
  return client
}

describe('a client that does not read', () => {
  test('is disconnected soon after the end, and what is written after the end is dropped', async () => {
    await request()
    let closes = 0
    output.closed(() => (closes += 1))
    output.end()
    expect([output.isClosed(), closes]).toEqual([true, 0])
    output.write('id: 1-0\n\n')
    await eventually(() => expect(closes).toBe(1))
    output.write('id: 2-0\n\n')
    output.end()
  })
})

test('a client that reads gets everything up to the end', async () => {
  const client = await request()
  let read = 0
  output.write('id: 1-0\n\n')
  output.end()
  output.write('id: 2-0\n\n')
  let last = ''
  client.on('data', (chunk: Buffer) => {
    read += chunk.length
    last = `${last}${chunk.toString()}`.slice(-100)
  })
  client.resume()
  await eventually(() => expect(last).toMatch(/id: 1-0\n\n\r\n0\r\n\r\n$/))
  expect(read).toBeGreaterThan(MUCH.length)
})
