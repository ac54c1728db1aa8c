import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client as ApiClient, clientCredentials, createClient } from '@switchhook/client'
import { startTcpProxy, testPostgres } from '@switchhook/testkit'
import { createRandom, type Random } from '../faults/random.ts'
import { type Client, credentialsOf, openClient } from '../load/client.ts'
import { listParked } from '../load/recoveries.ts'
import type { ReceiverSeen, Shown } from '../reconcile/observation.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { subscribe } from '../subscribers/subscribe.ts'
import { openReceiverDatabase, type ReceiverDatabase, type StoreName } from './receiver-database.ts'
import type { Door, Message, Point, ReceiverSettings } from './receiver-process.ts'

/** Far enough apart for the breaker to close in between. */
const ALIVE_MS = { least: 5_000, most: 10_000 }
/** If no delivery reaches the point by then, the process is killed wherever it is. */
const REACHES_WITHIN_MS = 3_000
const POINTS: readonly Point[] = ['before the commit', 'before the answer']
const PROGRAM = join(import.meta.dirname, 'receiver-process.js')

/**
 * Starts subscribers with `@switchhook/receiver` in processes of their own, which are killed again and again.
 * @param folder for the SQLite database
 */
export async function startReceivers(stack: ChaosStack, folder: string, seed: number) {
  const random = createRandom(seed)
  const client = openClient(stack.apis, stack.devIdp, random)
  mkdirSync(folder, { recursive: true })
  await using starting = new AsyncDisposableStack()
  const postgres = await testPostgres()
  starting.defer(() => postgres.close())
  const opened = [
    starting.use(await openOne(stack, client, random, 'sqlite', join(folder, 'receiver.db'))),
    starting.use(await openOne(stack, client, random, 'postgres', postgres.host)),
  ]
  const running = starting.move()
  return {
    kills: () => opened.reduce((sum, one) => sum + one.kills(), 0),
    /**
     * Ends the kills with a last one. When each receiver has read the state of the API, sends again what was parked while
     * it was away.
     */
    rest: async (): Promise<void> => void (await Promise.all(opened.map(({ rest }) => rest()))),
    look: async (): Promise<readonly ReceiverSeen[]> => {
      const auth = clientCredentials(credentialsOf(stack.devIdp))
      const api = readApi(createClient({ baseUrl: stack.apis()[0] ?? '', auth }))
      return Promise.all(opened.map(async (one) => ({ ...(await one.look()), api: await api })))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function openOne(stack: ChaosStack, client: Client, random: Random, store: StoreName, location: string) {
  const database = await openReceiverDatabase(store, location)
  // The address of the subscriptions: the process behind it has another port after each start.
  const front = await startTcpProxy('http://127.0.0.1:1')
  const subscribeDoor = (door: Door) =>
    subscribe(client, { url: new URL(door, front.url).href, eventTypes: ['call.status', 'agent.status'] })
  const [each, latest] = await Promise.all([subscribeDoor('each'), subscribeDoor('latest')])
  const secrets = { each: each.secret, latest: latest.secret }
  const subscriptionIds = [each.id, latest.id]
  const start = async () => {
    const credentials = credentialsOf(stack.devIdp)
    const receiver = startProcess({ store, location, secrets, api: random.pick(stack.apis()), credentials })
    front.aim(`http://127.0.0.1:${await receiver.port}`)
    return receiver
  }

  const ending = new AbortController()
  let receiver = await start()
  let kills = 0
  const killAndStart = async (): Promise<void> => {
    await receiver.kill(random.pick(POINTS))
    kills += 1
    receiver = await start()
  }
  const killing = (async () => {
    for (;;) {
      const aliveMs = random.between(ALIVE_MS.least, ALIVE_MS.most)
      await sleep(aliveMs, undefined, { signal: ending.signal }).catch(() => undefined)
      if (ending.signal.aborted) return
      await killAndStart()
    }
  })()
  // Reported when it is awaited.
  killing.catch(() => undefined)
  const rejected = new Set<string>()
  return {
    kills: () => kills,
    rest: async (): Promise<void> => {
      ending.abort()
      await killing
      await killAndStart()
      await receiver.reconciled
    },
    look: async (): Promise<Omit<ReceiverSeen, 'api'>> => {
      for (const id of subscriptionIds) {
        for (const { deliveryId, reason } of await listParked(client, store, id)) {
          if (reason !== 'exhausted') rejected.add(deliveryId)
          else await client.insist('POST', `/api/v1/webhooks/deliveries/${deliveryId}/redeliver`)
        }
      }
      return { name: store, subscriptionIds, rejected: [...rejected], ...(await readDatabase(database)) }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      ending.abort()
      await killing.catch(() => undefined)
      await receiver.kill().catch(() => undefined)
      await front.close()
      await database.close()
    },
  }
}

function startProcess(settings: ReceiverSettings) {
  const child = fork(PROGRAM, [JSON.stringify(settings)], { detached: true })
  const ended = once(child, 'exit')
  return {
    port: Promise.race([messageOf(child, 'port').then(({ port = 0 }) => port), ended.then(unexpected)]),
    reconciled: messageOf(child, 'reconciled'),
    /** `kill -9`, when the process has reached the point. */
    kill: async (at?: Point): Promise<void> => {
      if (child.exitCode !== null) unexpected()
      if (at !== undefined) {
        child.send(at)
        await Promise.race([messageOf(child, 'reached'), sleep(REACHES_WITHIN_MS, undefined, { ref: false })])
      }
      child.kill('SIGKILL')
      await ended
    },
  }
}

function unexpected(): never {
  throw new Error('a receiver ended unexpectedly; its error is above')
}

/** Resolves with the first message that has this field. Never rejects: a process that ends sends none. */
const messageOf = (child: ChildProcess, name: keyof Message): Promise<Message> =>
  new Promise((resolve) => {
    child.on('message', (message: Message) => name in message && resolve(message))
  })

async function readDatabase(database: ReceiverDatabase) {
  const effects = await database.query('SELECT door, event_id FROM effects')
  const idsOf = (door: Door): string[] =>
    effects.flatMap((row) => (row['door'] === door ? [String(row['event_id'])] : []))
  const view = await database.query('SELECT * FROM view')
  return {
    each: idsOf('each'),
    latest: idsOf('latest'),
    view: view.map((row) => ({
      subject: String(row['subject']),
      state: Number(row['state']),
      sequence: Number(row['sequence']),
      occurredAtMs: Date.parse(String(row['occurred_at'])),
      isCall: row['started_at'] !== '',
    })),
  }
}

/** @throws NoAnswer if the api is away */
async function readApi(client: ApiClient): Promise<Shown[]> {
  const shown: Shown[] = []
  for await (const { callId, agentUri, state, sequence, occurredAt } of client.calls.list({ limit: 100 })) {
    const occurredAtMs = Date.parse(occurredAt)
    shown.push({ subject: `${callId} ${agentUri}`, state, sequence, occurredAtMs, isCall: true })
  }
  for await (const { agentUri, statusCode, sequence, occurredAt } of client.agents.list({ limit: 100 })) {
    // An agent without an event has no time.
    const occurredAtMs = Date.parse(occurredAt ?? new Date(0).toISOString())
    shown.push({ subject: agentUri, state: statusCode, sequence, occurredAtMs, isCall: false })
  }
  return shown
}
