import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CallState } from '@switchhook/client'
import { createReceiver, type Receiver } from '@switchhook/receiver'
import { type Answer, eventually, type ReceivedRequest, startReceiver } from '@switchhook/testkit'
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
    expect([verdict, findings.map(({ result }) => result)]).toEqual(['good', Array(5).fill('passed')])
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

/** A process with a receiver that kills itself at a delivery. */
interface FragileReceiver {
  readonly url: string
  readonly ended: Promise<unknown>
}

async function startFragile(...args: readonly string[]): Promise<FragileReceiver> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'testing/fragile-receiver.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  closing.push(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${Number(port.toString())}`, ended }
}

test('a receiver that is killed applies each event exactly once, and ends with the view of the API', async () => {
  const agents = [172, 173, 174, 175].map((n) => `sip:e2e-${n}@globex.example`)
  const folder = mkdtempSync(join(tmpdir(), 'fragile-receiver-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  let url = ''
  // The address of the subscriptions: the process behind it has another one after each start.
  const front = await startReceiver(async ({ path, headers, body }: ReceivedRequest): Promise<Answer> => {
    const kept = Object.entries(headers).filter(([name]) => /^(x-svc|webhook|content-type)/.test(name))
    const given = kept.map(([name, value]): [string, string] => [name, String(value)])
    const answer = await fetch(url + path, { method: 'POST', headers: given, body }).catch(() => null)
    return answer === null ? { instead: 'reset' } : { status: answer.status }
  })
  closing.push(() => front.close())
  const [each, latest] = [await subscribe(front.url('/each')), await subscribe(front.url('/latest'))]
  const start = async (dieAt: number, dieBefore: string): Promise<FragileReceiver> => {
    const receiver = await startFragile(folder, each.secret, latest.secret, String(dieAt), dieBefore)
    ;({ url } = receiver)
    return receiver
  }
  const sendParkedAgain = async (): Promise<void> => {
    for (const { id } of [each, latest]) {
      for await (const { deliveryId } of client.api.subscriptions.deliveries(id, { state: 'parked' })) {
        await client.api.deliveries.redeliver(deliveryId)
      }
    }
  }

  const calls: string[] = []
  for (const [round, dieBefore] of ['commit', 'answer', 'commit', 'answer'].entries()) {
    const { ended } = await start(3 + round, dieBefore)
    calls.push(await client.dial(agents[round] ?? '', '+15550100'))
    for (const agentUri of agents) await client.api.agents.setPresence(agentUri, { statusCode: 66 + 16 * (round % 2) })
    await ended
  }
  await start(0, 'never')
  for (const round of [0, 1]) await client.api.calls.hangup(calls[round] ?? '', { agentUri: agents[round] ?? '' })

  const rows = (name: string, query: string): Record<string, unknown>[] => {
    const database = new DatabaseSync(join(folder, `${name}.db`), { readOnly: true })
    const found = database.prepare(query).all()
    database.close()
    return found
  }
  await eventually(
    async () => {
      await sendParkedAgain()
      const expected = new Map<string, readonly number[]>()
      const events: string[] = []
      for (const agentUri of agents) {
        for await (const { eventId } of client.api.events.list({ agentUri, limit: 100 })) events.push(eventId)
        const { sequence, statusCode } = await client.api.agents.state(agentUri)
        expected.set(agentUri, [sequence, statusCode])
        for await (const leg of client.api.calls.list({ agentUri })) {
          expected.set(`${leg.callId} ${agentUri}`, [leg.sequence, leg.state])
        }
      }
      // Every event has its number, so the numbers tell that the list of events is complete.
      expect(events).toHaveLength([...expected.values()].reduce((sum, [sequence = 0]) => sum + sequence, 0))
      const applied = rows('each', 'SELECT event_id FROM effects').map((row) => String(row['event_id']))
      expect(applied.filter((id) => events.includes(id)).toSorted()).toEqual(events.toSorted())
      const view = rows('latest', 'SELECT subject, sequence, state FROM view')
      const seen = view.map((row) => [String(row['subject']), [row['sequence'], row['state']]] as const)
      expect(Object.fromEntries(seen.filter(([subject]) => expected.has(subject)))).toEqual(
        Object.fromEntries(expected),
      )
    },
    { timeoutMs: 90_000, intervalMs: 500 },
  )
  const twice = 'SELECT event_id FROM effects GROUP BY event_id HAVING count(*) > 1'
  expect([...rows('each', twice), ...rows('latest', twice)]).toEqual([])
  for (const round of [2, 3]) await client.api.calls.hangup(calls[round] ?? '', { agentUri: agents[round] ?? '' })
}, 180_000)
