import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { createReceiver, type Receiver } from '@switchhook/receiver'
// oxlint-disable-next-line no-restricted-imports -- each store of the receiver has an entry of its own
import { sqliteStore } from '@switchhook/receiver/sqlite'

/**
 * A subscriber in a process of its own, with two receivers that store in `<folder>/each.db` and `<folder>/latest.db`.
 * It kills itself at its delivery number `dieAt`, before the commit or between the commit and the answer.
 */
const [folder = '', eachSecret = '', latestSecret = '', dieAt = '0', dieBefore = ''] = process.argv.slice(2)
let handled = 0

const die = (point: string): void => {
  if (point === dieBefore && handled >= Number(dieAt)) process.kill(process.pid, 'SIGKILL')
}

function apply(subject: string, sequence: number, state: number, eventId: string | null, tx: DatabaseSync): void {
  tx.prepare('INSERT INTO effects VALUES (?)').run(eventId)
  tx.prepare('REPLACE INTO view VALUES (?, ?, ?)').run(subject, sequence, state)
  handled++
  die('commit')
}

function open(order: 'none' | 'latest', name: string, secret: string): Receiver {
  const database = new DatabaseSync(`${folder}/${name}.db`)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE IF NOT EXISTS effects (event_id TEXT)')
  database.exec('CREATE TABLE IF NOT EXISTS view (subject TEXT PRIMARY KEY, sequence INTEGER, state INTEGER)')
  return createReceiver({
    secrets: secret,
    store: sqliteStore(database),
    order,
    on: {
      'call.status': ({ data }, { eventId, tx }) =>
        apply(`${data.callId} ${data.agentUri}`, data.sequence, data.state, eventId, tx),
      'agent.status': ({ data }, { eventId, tx }) => apply(data.agentUri, data.sequence, data.statusCode, eventId, tx),
    },
  })
}

const receivers: Readonly<Record<string, Receiver>> = {
  '/each': open('none', 'each', eachSecret),
  '/latest': open('latest', 'latest', latestSecret),
}
const server = createServer((request, response) => {
  const answer = {
    statusCode: 0,
    setHeader: (name: string, value: string) => response.setHeader(name, value),
    end: (body?: string) => {
      die('answer')
      response.writeHead(answer.statusCode).end(body)
    },
  }
  void receivers[request.url ?? '']?.node(request, answer)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
