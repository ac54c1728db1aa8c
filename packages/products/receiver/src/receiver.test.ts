import { type ReceiverOptions, Reject } from './options.ts'
import { createReceiver } from './receiver.ts'
import type { Store } from './store.ts'
import { memoryStore } from './stores/memory.ts'
import { aDelivery, aLeg, asRequest, OTHER_SECRET, SECRET, type SentDelivery } from './testing/deliveries.ts'

type Options = ReceiverOptions<unknown>

/** A receiver that notes what its handlers and callbacks get. */
function observed(more: Partial<Options> = {}) {
  const seen: unknown[] = []
  const errors: unknown[] = []
  const receiver = createReceiver({
    secrets: SECRET,
    on: { 'call.status': ({ data }, { missed }) => void seen.push([data.sequence, missed]) },
    onTest: ({ eventType }) => void seen.push(`test ${eventType}`),
    onStale: ({ data }) => void seen.push(`stale ${String(data['sequence'])}`),
    onGap: (_event, missed) => void seen.push(`gap ${missed}`),
    onError: (error) => void errors.push(error),
    ...more,
  })
  const send = async (delivery: SentDelivery = aDelivery({ data: aLeg(1) })): Promise<[number, string]> => {
    const response = await receiver.fetch(asRequest(delivery))
    return [response.status, await response.text()]
  }
  return { receiver, send, seen, errors }
}

test('a delivery is handled once, with what the headers tell', async () => {
  const contexts: unknown[] = []
  const { send } = observed({ on: { 'call.status': (event, ctx) => void contexts.push({ event, ...ctx }) } })
  const delivery = aDelivery({ data: aLeg(1) })
  expect(await send(delivery)).toEqual([204, ''])
  expect(await send(delivery)).toEqual([204, ''])
  expect(contexts).toEqual([
    {
      event: {
        eventType: 'call.status',
        occurredAt: '2026-11-20T00:00:00.001Z',
        tenant: 'acme',
        data: expect.objectContaining(aLeg(1)) as unknown,
      },
      deliveryId: delivery.headers['webhook-id'],
      eventId: delivery.headers['x-svc-event-id'],
      attempt: 1,
      missed: 0,
      tx: expect.anything() as unknown,
      signal: expect.any(AbortSignal) as unknown,
    },
  ])
})

describe('a request that is not genuine is answered 401, and the reason says what to do', () => {
  const hour = 3_600_000
  const genuine = aDelivery()
  const signature = genuine.headers['webhook-signature'] ?? ''
  const signedWith = (other: string) => ({ ...genuine, headers: { ...genuine.headers, 'webhook-signature': other } })
  test.each<[string, SentDelivery, RegExp]>([
    ['another secret', aDelivery({ secret: OTHER_SECRET }), /No secret.*secret of the subscription/],
    ['an old timestamp', aDelivery({ atMs: Date.now() - hour }), /signed 36\d\d s ago.*clock/],
    ['a timestamp of the future', aDelivery({ atMs: Date.now() + hour }), /signed 3\d{3} s in the future.*clock/],
    ['no signature', { ...aDelivery(), headers: {} }, /not signed.*rotate its secret/],
    ['a changed body', { ...aDelivery(), body: '{}' }, /No secret/],
    ['a signature that is no Base64', signedWith('v1,*'), /No secret/],
    ['a signature of another version', signedWith(signature.replace('v1,', 'v1a,')), /No secret/],
    [
      'a timestamp that is no number',
      { ...aDelivery(), headers: { ...genuine.headers, 'webhook-timestamp': 'now' } },
      /clock/,
    ],
  ])('%s', async (_case, delivery, reason) => {
    const { send, errors } = observed()
    expect(await send(delivery)).toEqual([401, expect.stringMatching(reason)])
    expect(errors).toEqual([])
  })
})

test('each of several secrets fits, and a function is asked for them again after a failure', async () => {
  const both = observed({ secrets: [OTHER_SECRET, SECRET] })
  expect(await both.send()).toEqual([204, ''])
  expect(await observed({ secrets: () => [OTHER_SECRET, SECRET] }).send()).toEqual([204, ''])

  const answers = [Promise.reject(new Error('vault is away')), Promise.resolve([SECRET])]
  const { send, errors } = observed({ secrets: () => answers.shift() ?? Promise.reject(new Error('asked too often')) })
  expect(await send()).toEqual([503, 'The secrets of the receiver cannot be read.'])
  expect(errors).toEqual([expect.objectContaining({ cause: new Error('vault is away') })])
  expect(await send()).toEqual([204, ''])
  expect(await send()).toEqual([204, ''])
})

test('during a rotation, one of several signatures is enough', async () => {
  const { send } = observed()
  const [one, other] = [aDelivery({ id: 'd-1' }), aDelivery({ id: 'd-1', secret: OTHER_SECRET })]
  const both = `${other.headers['webhook-signature']} ${one.headers['webhook-signature']}`
  expect(await send({ ...one, headers: { ...one.headers, 'webhook-signature': both } })).toEqual([204, ''])
})

test.each([
  [10, 204],
  [11, 401],
])(
  'a genuine signature in place %i is answered %i, so that a forger cannot have thousands compared',
  async (place, status) => {
    const { send } = observed()
    const genuine = aDelivery()
    const forged = aDelivery({ secret: OTHER_SECRET }).headers['webhook-signature'] ?? ''
    const all = [...Array.from({ length: place - 1 }, () => forged), genuine.headers['webhook-signature'] ?? '']
    const headers = { ...genuine.headers, 'webhook-signature': all.join(' ') }
    expect((await send({ ...genuine, headers }))[0]).toBe(status)
  },
)

test.each<[string, string | string[] | undefined]>([
  ['none', []],
  ['an empty one', ''],
  ['a variable that is not set, in JavaScript', undefined],
  ['one with a typo', 'whsec_not*base64'],
  ['one that was cut off', SECRET.slice(0, 20)],
])('a receiver is not created with this secret: %s', (_case, secrets) => {
  expect(() => observed({ secrets: secrets as string })).toThrow(/^(There is no secret|Secret 1)/)
})

test('what is not a delivery is refused', async () => {
  const { receiver, send } = observed()
  expect((await receiver.fetch(new Request('https://client.example/hooks'))).status).toBe(405)
  const { headers } = aDelivery()
  expect(await send({ ...aDelivery(), headers: { ...headers, 'content-length': '5000000' } })).toEqual([
    413,
    expect.any(String),
  ])
  const array = aDelivery({ eventType: 7 as unknown as string })
  expect(await send(array)).toEqual([400, 'The body is not a delivery.'])
})

test('a body that was read before is our own fault: 500, with the remedy, and never a 4xx', async () => {
  const { receiver, errors } = observed()
  const request = asRequest(aDelivery())
  await request.text()
  const response = await receiver.fetch(request)
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringContaining('receiver.fetch(request) first'),
  ])
  expect(errors).toHaveLength(1)
})

test('a test delivery reaches onTest alone', async () => {
  const { send, seen } = observed()
  const delivery = aDelivery({ data: aLeg(1), isTest: true })
  expect(await send(delivery)).toEqual([204, ''])
  expect(await send(delivery)).toEqual([204, ''])
  expect(seen).toEqual(['test call.status', 'test call.status'])
})

test('events without a handler go to `other`, or are acknowledged', async () => {
  const types: string[] = []
  const { send } = observed({ on: { 'call.status': () => {}, other: ({ eventType }) => void types.push(eventType) } })
  for (const eventType of ['call.status', 'webhook.parked.limit', 'call.unheard']) await send(aDelivery({ eventType }))
  expect(types).toEqual(['webhook.parked.limit', 'call.unheard'])
  const { send: sendToNobody } = observed({ on: {} })
  expect(await sendToNobody()).toEqual([204, ''])
})

describe('the order', () => {
  const sendAll = async (more: Partial<Options>, sequences: readonly number[]) => {
    const { send, seen } = observed(more)
    for (const sequence of sequences) {
      expect(await send(aDelivery({ data: aLeg(sequence, sequence === 7 ? 7 : 3) }))).toEqual([204, ''])
    }
    return seen
  }

  test('latest: the newer snapshot is applied, and gaps are reported', async () => {
    const seen = await sendAll({}, [1, 4, 2, 7, 8])
    expect(seen).toEqual([[1, 0], [4, 2], 'gap 2', 'stale 2', [7, 2], 'gap 2', 'stale 8'])
  })

  test('latest: a gap that the filter of the subscription leaves is none', async () => {
    const { send, seen } = observed()
    for (const sequence of [1, 4, 2]) await send(aDelivery({ data: aLeg(sequence), isSparse: true }))
    expect(seen).toEqual([[1, 0], [4, 0], 'stale 2'])
  })

  test('none: every event is handled', async () => {
    expect(await sendAll({ order: 'none' }, [4, 1])).toEqual([
      [4, 0],
      [1, 0],
    ])
  })

  test('a failed event leaves no position, so its retry is applied', async () => {
    let fails = true
    const { send, seen } = observed({
      on: {
        'call.status': ({ data }) => {
          if (fails) throw new Error('not yet')
          seen.push(data.sequence)
        },
      },
    })
    const delivery = aDelivery({ data: aLeg(3) })
    expect((await send(delivery))[0]).toBe(500)
    fails = false
    expect((await send(delivery))[0]).toBe(204)
    expect(seen).toEqual([3])
  })

  test('events of one leg are handled one after the other, those of two legs side by side', async () => {
    const [hold, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { send, seen } = observed({
      on: {
        'call.status': async ({ data: { callId, sequence } }) => {
          if (sequence === 1) {
            begun.resolve()
            await hold.promise
          }
          seen.push(`${callId} ${sequence}`)
        },
      },
    })
    const first = send(aDelivery({ data: aLeg(1, 3, 'a') }))
    await begun.promise
    const second = send(aDelivery({ data: aLeg(2, 3, 'a') }))
    await send(aDelivery({ data: aLeg(2, 3, 'b') }))
    hold.resolve()
    await Promise.all([first, second])
    expect(seen).toEqual(['b 2', 'a 1', 'a 2'])
  })

  test('the events of two tenants are not mixed, and an event without an order is handled', async () => {
    const { send, seen } = observed({ on: { 'agent.status': ({ data }) => void seen.push(data.agentUri) } })
    for (const data of [{ agentUri: 'a', sequence: 2 }, { agentUri: 'b', sequence: 1 }, { agentUri: 'a' }]) {
      await send(aDelivery({ eventType: 'agent.status', data }))
    }
    expect(seen).toEqual(['a', 'b', 'a'])
  })
})

describe('failures', () => {
  test.each<[string, Error, number, string]>([
    ['Reject parks the delivery', new Reject('no such customer'), 422, 'no such customer'],
    [
      'any other error lets it be tried again, and does not show itself',
      new Error('password=1'),
      500,
      'The handler failed.',
    ],
  ])('%s', async (_case, error, status, reason) => {
    const { send, errors } = observed({
      on: {
        'call.status': () => {
          throw error
        },
      },
    })
    expect(await send()).toEqual([status, reason])
    expect(errors).toEqual([error])
  })

  const failing: Store<unknown> = {
    ...(memoryStore() as Store<unknown>),
    once: () => Promise.reject(new Error('no connection')),
  }
  test.each<[string, Partial<Store<unknown>>, string]>([
    ['the store is away', failing, 'The store of the receiver failed.'],
    [
      'another process handles the delivery',
      { once: async () => 'busy' as const },
      'Another process is handling this delivery.',
    ],
  ])('%s: 503', async (_case, store, reason) => {
    const { send, seen } = observed({ store: { ...failing, ...store } })
    expect(await send()).toEqual([503, reason])
    expect(seen).toEqual([])
  })

  test('a handler that takes long is answered 503, works on, and its retry waits for the same work', async () => {
    const finish = Promise.withResolvers<void>()
    const { send, seen } = observed({
      answerWithinMs: 20,
      on: {
        'call.status': async () => {
          seen.push('begun')
          await finish.promise
        },
      },
    })
    const delivery = aDelivery({ data: aLeg(1) })
    const late = [503, expect.stringContaining('still runs')]
    expect(await send(delivery)).toEqual(late)
    expect(await send(delivery)).toEqual(late)
    finish.resolve()
    // On a busy machine, 20 ms can pass before the receiver goes on. A sender then retries.
    let answer = await send(delivery)
    while (answer[0] === 503) answer = await send(delivery)
    expect(answer).toEqual([204, ''])
    expect(seen).toEqual(['begun'])
  })

  test('stopping answers 503, tells the handlers, and ends when they have', async () => {
    const begun = Promise.withResolvers<void>()
    const { receiver, send, seen } = observed({
      on: {
        'call.status': async (_event, { signal }) => {
          begun.resolve()
          await new Promise((next) => signal.addEventListener('abort', next))
          seen.push('ended')
        },
      },
    })
    const running = send()
    await begun.promise
    const waiting = send(aDelivery({ data: aLeg(2) }))
    const stopped = receiver.stop()
    expect(await send()).toEqual([503, 'The receiver is stopping.'])
    await stopped
    expect(seen).toEqual(['ended'])
    expect([await running, await waiting]).toEqual([
      [204, ''],
      [503, 'The receiver is stopping.'],
    ])
  })
})

test('a secret that was created since the last look is not refused', async () => {
  let now = Date.now()
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now)
  const stored = [OTHER_SECRET]
  const { send } = observed({ secrets: async () => [...stored] })
  const delivery = () => aDelivery({ data: aLeg(1), atMs: now })
  expect((await send(delivery()))[0]).toBe(401)
  stored.push(SECRET)
  now += 2_000
  expect((await send(delivery()))[0]).toBe(204)
  clock.mockRestore()
})

test('secrets that cannot be asked for are answered 503', async () => {
  const secrets = () => {
    throw new Error('no table')
  }
  expect((await observed({ secrets }).send())[0]).toBe(503)
})

test('onError that fails later does not end the process', async () => {
  const failures: unknown[] = []
  const noted = jest.spyOn(console, 'error').mockImplementation((error) => void failures.push(error))
  const { send } = observed({
    on: { other: () => Promise.reject(new Error('no')) },
    onError: async () => Promise.reject(new Error('the log is away')),
  })
  expect((await send())[0]).toBe(500)
  expect(failures).toEqual([new Error('the log is away')])
  noted.mockRestore()
})

test('onStale or onGap that fails is noted, and the event stays done', async () => {
  const fail = async (): Promise<void> => {
    throw new Error('no')
  }
  const { send, seen, errors } = observed({ onStale: fail, onGap: fail })
  const answers = []
  for (const sequence of [1, 3, 2]) answers.push(await send(aDelivery({ data: aLeg(sequence) })))
  expect(answers).toEqual([
    [204, ''],
    [204, ''],
    [204, ''],
  ])
  expect([seen, errors]).toEqual([
    [
      [1, 0],
      [3, 1],
    ],
    [new Error('no'), new Error('no')],
  ])
})

test('an endless body is not read to its end', async () => {
  let pulled = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1
      controller.enqueue(new Uint8Array(1_024 * 1_024))
    },
  })
  const request = new Request('https://client.example/', { method: 'POST', body, duplex: 'half' } as RequestInit)
  expect((await observed().receiver.fetch(request)).status).toBe(413)
  expect(pulled).toBeLessThan(10)
})

test('reconcile needs an order', async () => {
  const client = {} as Parameters<ReturnType<typeof createReceiver>['reconcile']>[0]
  await expect(observed({ order: 'none' }).receiver.reconcile(client)).rejects.toThrow("order 'latest'")
})
