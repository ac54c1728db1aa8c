import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'
import { logOf, readStack } from './stack.ts'

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
  subscription = await acme.subscribe(receiver.url('/hook'))
})

afterAll(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

/** Swaps the data of the stack's Redis with another database, which is empty at first. */
async function swapData(): Promise<void> {
  const url = new URL(readStack().urls.redis)
  const database = Number(url.pathname.slice(1) || 0)
  const socket = connect({ host: url.hostname, port: Number(url.port || 6379) })
  try {
    if (url.password) {
      socket.write(`AUTH ${[url.username, url.password].filter(Boolean).map(decodeURIComponent).join(' ')}\r\n`)
      await once(socket, 'data')
    }
    socket.write(`SWAPDB ${database} ${database + 1}\r\n`)
    const [reply] = (await once(socket, 'data')) as [Buffer]
    if (!reply.toString().startsWith('+OK')) throw new Error(`Redis answered ${reply.toString().trim()}`)
  } finally {
    socket.destroy()
  }
}

async function readiness(): Promise<Record<string, boolean>> {
  const ports = Object.entries(readStack().healthPorts).filter(([name]) => /^(api|fanout|delivery-worker)-/.test(name))
  const all = ports.map(async ([name, port]) => [name, (await fetch(`http://127.0.0.1:${port}/readyz`)).ok] as const)
  return Object.fromEntries(await Promise.all(all))
}

const arrived = (): Set<unknown> =>
  new Set(receiver.requests('/hook').map((request) => envelopeOf(request).data['marker']))

test('Redis loses its data under load and is restored: no event, first attempt or retry is lost', async () => {
  const failing = new Set<unknown>()
  receiver.answer('/hook', (request) => {
    const { marker } = envelopeOf(request).data
    // The first attempt of every third event fails, so that retries are waiting in the broker.
    const fails = failing.has(marker) && request.headers['x-svc-attempt'] === '1'
    return { status: fails ? 503 : 204, delayMs: 100 }
  })
  const markers: string[] = []
  for (let n = 0; n < 60; n++) {
    const marker = await publishEvent()
    markers.push(marker)
    if (n % 3 === 0) failing.add(marker)
  }
  await swapData()
  try {
    for (let n = 0; n < 20; n++) markers.push(await publishEvent())
    await eventually(async () => expect(Object.values(await readiness())).not.toContain(true), { timeoutMs: 60_000 })
    expect(arrived().size).toBeLessThan(markers.length)
    expect(logOf('fanout-1').filter((line) => line.includes('Redis lost its data'))).not.toEqual([])
  } finally {
    await swapData()
  }
  await eventually(async () => expect(Object.values(await readiness())).not.toContain(false), { timeoutMs: 60_000 })
  await eventually(() => expect(markers.filter((marker) => !arrived().has(marker))).toEqual([]), { timeoutMs: 60_000 })
}, 120_000)
