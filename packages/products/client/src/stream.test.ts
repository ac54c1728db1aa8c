import { createClient } from './client.ts'
import type { StreamMessage, StreamOptions } from './stream.ts'
import { page, problem, type Scripted, scripted } from './testing/scripted.ts'

/** A connection that the server ends after these blocks. */
const connection = (...blocks: readonly string[]): Response =>
  new Response(blocks.map((block) => `${block}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })

const place = (id: string): string => `id: ${id}\nevent: place\ndata: {"place":"${id}"}`
const event = (id: string, eventType = 'call.status'): string =>
  `id: ${id}\nevent: event\ndata: {"eventId":"e-${id}","eventType":"${eventType}"}`
const attempt = 'event: attempt\ndata: {"deliveryId":"d"}'
const gap = (after: string, resumedAt: string): string =>
  `event: gap\ndata: {"after":"${after}","resumedAt":"${resumedAt}"}`

/** Lets time pass until the work is done. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const running = new Set([work])
  const end = (): boolean => running.delete(work)
  work.then(end, end)
  while (running.size > 0) {
    await jest.advanceTimersByTimeAsync(250)
    await new Promise(setImmediate)
  }
  return work
}

/** Reads `count` messages. */
const read = (...args: Parameters<typeof readNow>) => inTime(readNow(...args))

async function readNow(script: readonly Scripted[], count: number, options: StreamOptions = {}) {
  const { fetch, sent } = scripted(script)
  const client = createClient({ baseUrl: 'http://x', fetch, maxRetries: 0 })
  const messages: StreamMessage[] = []
  for await (const message of client.events.stream({ callId: 'c' }, options)) {
    messages.push(message)
    if (messages.length === count) break
  }
  return { messages, sent, places: sent.map(({ headers }) => headers.get('last-event-id')) }
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate'] })
})
afterEach(() => void jest.useRealTimers())

test('events, events of an unknown type and attempts are told apart; other names are ignored', async () => {
  const { messages, sent } = await read(
    [connection(place('1-0'), event('1-1'), 'event: news\ndata: {}', event('1-2', 'call.recorded'), attempt)],
    3,
  )
  expect(messages).toEqual([
    { type: 'event', place: '1-1', event: { eventId: 'e-1-1', eventType: 'call.status' } },
    { type: 'other', place: '1-2', event: { eventId: 'e-1-2', eventType: 'call.recorded' } },
    { type: 'attempt', attempt: { deliveryId: 'd' } },
  ])
  expect(sent[0]?.url).toBe('http://x/api/v1/webhooks/stream?callId=c')
})

test.each(['event: event\ndata: text', 'event: attempt\ndata: null'])(
  'a message that Switchhook does not send ends the stream: %j',
  async (message) => {
    await expect(read([connection(message)], 1)).rejects.toThrow('unlike Switchhook')
  },
)

test('a stream that ends is resumed after its last place, which a quiet stream has too', async () => {
  const states: string[] = []
  const { messages, places } = await read(
    [connection(place('1-0'), event('1-1')), connection(place('1-5')), connection(event('1-6'))],
    2,
    { after: '0-9', onState: (state) => states.push(state) },
  )
  expect(messages).toMatchObject([{ place: '1-1' }, { place: '1-6' }])
  expect(places).toEqual(['0-9', '1-1', '1-5'])
  expect(states).toEqual(['live', 'away', 'live', 'away', 'live'])
})

test('after a gap the events are fetched from the place before it; then only attempts are missing', async () => {
  const { messages, places } = await read(
    [connection(event('1-1'), gap('1-1', '1-9'), event('1-9')), connection(place('1-1'), event('1-5'), event('1-9'))],
    4,
  )
  expect(messages).toMatchObject([
    { type: 'event', place: '1-1' },
    { type: 'gap', after: '1-1', resumedAt: '1-9', eventsLost: false },
    { type: 'event', place: '1-5' },
    { type: 'event', place: '1-9' },
  ])
  expect(places).toEqual([null, '1-1'])
})

test('a second gap at the same place is a loss', async () => {
  const { messages, places } = await read(
    [connection(gap('1-1', '1-9'), event('1-9')), connection(place('1-1'), gap('1-1', '1-8'), event('1-8'))],
    2,
    { after: '1-1' },
  )
  expect(messages).toMatchObject([
    { type: 'gap', after: '1-1', resumedAt: '1-8', eventsLost: true },
    { type: 'event', place: '1-8' },
  ])
  expect(places).toEqual(['1-1', '1-1'])
})

test('a stream begins at a time, and is resumed at a place', async () => {
  const { sent } = await read([connection(event('1-1')), connection(event('1-2'))], 2, {
    since: new Date('2026-11-20T17:00:00Z'),
  })
  expect(sent.map(({ url }) => new URL(url).searchParams.get('since'))).toEqual(['2026-11-20T17:00:00.000Z', null])
})

test('a connection that is silent for 35 seconds is dead', async () => {
  const silent = new Response(new ReadableStream({ start: (controller) => controller.enqueue(bytes) }), {
    headers: { 'content-type': 'text/event-stream' },
  })
  const answers = [silent, connection(event('1-2'))]
  const signals: (AbortSignal | null | undefined)[] = []
  const client = createClient({
    baseUrl: 'http://x',
    fetch: async (_url, init) => {
      signals.push(init?.signal)
      const answer = answers.shift() ?? page('', 500)
      // As a real fetch does: the signal ends the body too.
      const reader = answer.body?.getReader()
      const body = new ReadableStream({
        async pull(controller) {
          const aborted = new Promise<never>((_, reject) =>
            init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
          )
          const read = await Promise.race([reader?.read(), aborted])
          if (read === undefined || read.done) controller.close()
          else controller.enqueue(read.value)
        },
      })
      return new Response(body, { headers: answer.headers })
    },
  })
  async function readTwo(): Promise<string[]> {
    const places: string[] = []
    for await (const message of client.events.stream()) {
      if (message.type === 'event') places.push(message.place)
      if (places.length === 2) break
    }
    return places
  }
  expect(await inTime(readTwo())).toEqual(['1-1', '1-2'])
  expect(signals[0]?.aborted).toBe(true)
})
const bytes = new TextEncoder().encode(`${event('1-1')}\n\n`)

test.each([
  ['journal-off', problem('journal-off', 409)],
  ['forbidden', problem('forbidden', 403)],
])('the refusal %s ends the stream, also when it reconnects', async (code, refusal) => {
  await expect(read([refusal], 1)).rejects.toMatchObject({ code })
  await expect(read([connection(place('1-0')), refusal], 1)).rejects.toMatchObject({ code })
})

test('a first connection fails like any call; a later one is tried until it succeeds', async () => {
  await expect(read([page('', 502)], 1)).rejects.toMatchObject({ name: 'NoAnswer', status: 502 })
  const { messages } = await read(
    [connection(place('1-0')), page('', 502), problem('too-many-listeners', 429), connection(event('1-1'))],
    1,
  )
  expect(messages).toMatchObject([{ place: '1-1' }])
})

test('a stream ends with the reason of its signal', async () => {
  const closing = new AbortController()
  const reading = read([connection(place('1-0'))], 1, {
    signal: closing.signal,
    onState: () => closing.abort(new Error('closed')),
  })
  await expect(reading).rejects.toThrow('closed')
})
