import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CallState } from '@switchhook/client'
import { createReceiver, type Receiver } from '@switchhook/receiver'
import { eventually } from '@switchhook/testkit'
import fastify from 'fastify'
import { type Client, openClient } from './client.ts'

let client: Client
const closing: (() => unknown)[] = []
beforeAll(async () => {
  client = await openClient('globex')
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function subscribe(url: string): Promise<{ readonly id: string; readonly secret: string }> {
  const { id, secret } = await client.api.subscriptions.create({ url, eventTypes: ['call.status', 'agent.status'] })
  closing.push(() => client.api.subscriptions.delete(id))
  return { id, secret }
}

async function listen(app: RequestListener): Promise<string> {
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Serves a function of web requests, as a runtime with them does. */
const webServer =
  (serve: Receiver['fetch']): RequestListener =>
  async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const body = Buffer.concat(chunks)
    const answer = await serve(new Request('http://127.0.0.1/', { method: 'POST', headers, body }))
    response.writeHead(answer.status).end(await answer.text())
  }

test.each<[string, (receiver: Receiver) => Promise<string>]>([
  ['fetch', (receiver) => listen(webServer(receiver.fetch))],
  ['node', (receiver) => listen(receiver.node)],
  [
    'fastify',
    async (receiver) => {
      const app = fastify()
      closing.push(() => app.close())
      await app.register(receiver.fastify, { prefix: '/hooks' })
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hooks`
    },
  ],
])('the receiver check says that the door %s of the receiver is good', async (_door, serve) => {
  let secret = ''
  const receiver = createReceiver({ secrets: async () => [secret], on: {} })
  const subscription = await subscribe(await serve(receiver))
  secret = subscription.secret
  // On a busy machine an answer can take longer than the check allows.
  await eventually(async () => {
    const { verdict, findings } = await client.api.subscriptions.check(subscription.id)
    expect([verdict, findings.map(({ result }) => result)]).toEqual(['good', Array(6).fill('passed')])
  })
})

test('reconcile shows the calls and agents whose events were never received', async () => {
  const [live, over] = ['sip:e2e-170@globex.example', 'sip:e2e-171@globex.example'] as const
  const callId = await client.dial(live, '+15550102')
  const ended = await client.dial(over, '+15550102')
  await client.api.calls.hangup(ended, { agentUri: over })
  const view = new Map<string, unknown>()
  const receiver = createReceiver({
    secrets: `whsec_${'A'.repeat(43)}=`,
    on: {
      'call.status': ({ data }) => void view.set(`${data.callId} ${data.agentUri}`, [data.sequence, data.state]),
      'agent.status': ({ data }) => void view.set(data.agentUri, [data.sequence, data.statusCode]),
    },
  })
  await eventually(async () => {
    await receiver.reconcile(client.api)
    expect(view.get(`${ended} ${over}`)).toEqual([expect.any(Number), CallState.ended])
    const { sequence, statusCode } = await client.api.agents.state(live)
    const leg = (await client.api.calls.read(callId)).legs[0]
    expect([view.get(live), view.get(`${callId} ${live}`)]).toEqual([
      [sequence, statusCode],
      [leg?.sequence, leg?.state],
    ])
  })
  await client.api.calls.hangup(callId, { agentUri: live })
})
