import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import type { OutsideWorld, SipPhone } from '@switchhook/pbx'

export interface Telephone {
  readonly phone: SipPhone
  /** False: the cable is pulled, so the phone does not register again. */
  isPlugged: boolean
}

interface Order {
  readonly number?: string
  readonly from?: string
}

/** What a person can do at a phone: `POST /phones/<name>/<action>`. */
const ACTIONS: Readonly<Record<string, (telephone: Telephone, order: Order) => void | Promise<void>>> = {
  answer: ({ phone }) => phone.answer(),
  decline: ({ phone }) => phone.decline(),
  hangup: ({ phone }) => phone.hangup(),
  hold: ({ phone }) => phone.hold(true),
  resume: ({ phone }) => phone.hold(false),
  dial: ({ phone }, { number = '' }) => phone.dial(number),
  transfer: ({ phone }, { number = '' }) => phone.transfer(number),
  join: ({ phone }) => phone.joinCalls(),
  unplug: (telephone) => {
    telephone.isPlugged = false
    telephone.phone.die()
  },
  plug: async (telephone) => {
    telephone.isPlugged = true
    await telephone.phone.register()
  },
}

/**
 * An HTTP server that steers the phones, for the demo, tests and people: `GET /` shows phones and outside parties (503
 * until every plugged phone is registered), `POST /phones/<name>/<action>` does what a person does at the phone,
 * `POST /calls` `{"number", "from"}` calls a number from outside, `DELETE /calls/<id>` hangs up there.
 * @param phones of the agents, by name
 * @param world the parties outside
 */
export function createTelephonesServer(phones: Phones, world: () => OutsideWorld): Server {
  return createServer((request, response) => {
    handle(phones, world(), request).then(
      ({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(409).end(`${JSON.stringify({ error: String(error) })}\n`),
    )
  })
}

type Phones = ReadonlyMap<string, Telephone>

async function handle(phones: Phones, world: OutsideWorld, request: IncomingMessage) {
  const [, what = '', name = '', action = ''] = (request.url ?? '').split('/')
  const { method } = request
  if (method === 'GET' && what === '') {
    const all = [...phones].map(([owner, { phone, isPlugged }]) => ({
      name: owner,
      isRegistered: phone.isRegistered,
      isPlugged,
      calls: phone.calls.map(({ isTalking }) => ({ isTalking })),
    }))
    const isReady = all.every(({ isRegistered, isPlugged }) => isRegistered || !isPlugged) && world.isOpen
    const outside = (await world.channels()).map(({ id, state }) => ({ id, state }))
    return { status: isReady ? 200 : 503, body: { phones: all, outside } }
  }
  const body = await text(request)
  const order = (body === '' ? {} : JSON.parse(body)) as Order
  if (method === 'POST' && what === 'calls') {
    return { status: 201, body: { id: await world.call(order.number ?? '', order.from ?? '') } }
  }
  if (method === 'DELETE' && what === 'calls') {
    await world.hangup(name)
    return { status: 200, body: {} }
  }
  const telephone = phones.get(name)
  const act = ACTIONS[action]
  if (method !== 'POST' || what !== 'phones' || telephone === undefined || act === undefined) {
    return { status: 404, body: { phones: [...phones.keys()], actions: Object.keys(ACTIONS) } }
  }
  await act(telephone, order)
  return { status: 202, body: {} }
}
