import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CallState, type ClientCredentials, clientCredentials, createClient } from '@switchhook/client'
import { createReceiver, type Receiver } from '@switchhook/receiver'
import type { Shown } from '../reconcile/observation.ts'
import { openReceiverDatabase, type StoreName } from './receiver-database.ts'

/** What the process is started with. */
export interface ReceiverSettings {
  readonly store: StoreName
  readonly location: string
  /** Of the two subscriptions. */
  readonly secrets: Readonly<Record<Door, string>>
  readonly api: string
  readonly credentials: ClientCredentials
}

/** `each` handles every event, `latest` those that are newer than what it shows. */
export type Door = 'each' | 'latest'

/** Where the process waits to be killed: the effects are written and not committed, or committed and not answered. */
export type Point = 'before the commit' | 'before the answer'

/** What the process tells, one thing at a time. */
export type Message = { readonly port?: number; readonly reached?: Point; readonly reconciled?: true }

/** A subscriber, built as docs/receiver.md says. */
const settings = JSON.parse(process.argv[2] ?? '') as ReceiverSettings
const database = await openReceiverDatabase(settings.store, settings.location)
const tell = (message: Message): void => void process.send?.(message)

let fatal: Point | undefined
process.on('message', (point: Point) => (fatal = point))
process.on('disconnect', () => process.exit())

/** Goes no further if the process is to die here. */
async function reach(point: Point): Promise<void> {
  if (point !== fatal) return
  tell({ reached: point })
  await new Promise(() => {})
}

const SHOW = `INSERT INTO view VALUES ($1, $2, $3, $4, $5) ON CONFLICT (subject) DO UPDATE
  SET state = excluded.state, sequence = excluded.sequence, occurred_at = excluded.occurred_at`

function open(door: Door): Receiver {
  const apply = async (
    { occurredAt }: { readonly occurredAt: string },
    { eventId, tx }: { readonly eventId: string | null; readonly tx: unknown },
    { subject, state, sequence, startedAt }: Pick<Shown, 'subject' | 'state' | 'sequence'> & { startedAt: string },
  ): Promise<void> => {
    // What reconcile has read from the API is no event.
    if (eventId !== null) await database.write(tx, 'INSERT INTO effects VALUES ($1, $2)', [door, eventId])
    // The events of the other platform have no state.
    const hasState = sequence !== undefined
    if (door === 'latest' && hasState) await database.write(tx, SHOW, [subject, state, sequence, occurredAt, startedAt])
    await reach('before the commit')
  }
  return createReceiver({
    secrets: settings.secrets[door],
    store: database.store,
    order: door === 'each' ? 'none' : 'latest',
    on: {
      'call.status': (event, context) => {
        const { callId, agentUri, state, sequence, startedAt } = event.data
        return apply(event, context, { subject: `${callId} ${agentUri}`, state, sequence, startedAt })
      },
      'agent.status': (event, context) => {
        const { agentUri, statusCode: state, sequence } = event.data
        return apply(event, context, { subject: agentUri, state, sequence, startedAt: '' })
      },
    },
  })
}

const receivers: Readonly<Record<Door, Receiver>> = { each: open('each'), latest: open('latest') }

const server = createServer((request, response) => {
  const answer = {
    statusCode: 0,
    setHeader: (name: string, value: string) => response.setHeader(name, value),
    end: (body?: string) => void reach('before the answer').then(() => response.writeHead(answer.statusCode).end(body)),
  }
  void receivers[request.url === '/each' ? 'each' : 'latest'].node(request, answer)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
tell({ port: (server.address() as AddressInfo).port })

const client = createClient({ baseUrl: settings.api, auth: clientCredentials(settings.credentials) })
const AGAIN_MS = 500

/** Reads the state at the start, and closes the calls that the API no longer lists. */
for (;;) {
  try {
    const { startedAt, calls } = await receivers.latest.reconcile(client)
    const listed = new Set(calls.map(({ callId, agentUri }) => `${callId} ${agentUri}`))
    const begun = await database.query(`SELECT subject FROM view WHERE started_at <> '' AND started_at < $1`, [
      startedAt,
    ])
    for (const subject of begun.map((row) => String(row['subject']))) {
      if (listed.has(subject)) continue
      // Meanwhile a delivery may have brought its end.
      await database.query('DELETE FROM view WHERE subject = $1 AND state <> $2', [subject, CallState.ended])
    }
    break
  } catch {
    // The API is away, or SQLite is busy with a delivery.
    await sleep(AGAIN_MS)
  }
}
tell({ reconciled: true })
