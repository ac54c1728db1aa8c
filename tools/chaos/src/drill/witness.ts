import { randomUUID } from 'node:crypto'
import { waitUntil } from '@switchhook/test-servers'
import type { ReceivedRequest, Receiver } from '@switchhook/testkit'
import type { Client, Reply } from '../load/client.ts'
import { signatureError } from '../subscribers/secrets.ts'

/** One expectation about what a restore does, and whether it held. */
export interface Finding {
  readonly what: string
  readonly holds: boolean
}

const PATH = '/api/v1/webhooks/subscriptions'
const ARRIVES_WITHIN_MS = 60_000

interface Created {
  readonly id: string
  readonly secret: string
  readonly reply: Reply
}

/**
 * Makes changes before and after a backup, and finds out what a restore did to them. Creates the subscriptions that exist
 * in the backup.
 * @param receiver must stay open until all deliveries have ended: an attempt may be in flight after `look`
 */
export async function openWitness(client: Client, receiver: Receiver) {
  const keyBefore = randomUUID()
  const keyAfter = randomUUID()

  async function create(name: string, key: string): Promise<Created> {
    const body = { url: receiver.url(`/${name}`), eventTypes: ['call.status'], description: name }
    const reply = await client.insist('POST', PATH, body, { 'idempotency-key': key })
    return { id: String(reply.body['id']), secret: String(reply.body['secret']), reply }
  }
  const get = (id: string): Promise<Reply> => client.insist('GET', `${PATH}/${id}`)
  const remove = (id: string): Promise<Reply> => client.insist('DELETE', `${PATH}/${id}`)
  /** Whether a new delivery arrives. */
  const arrivesAt = (name: string, fits: (request: ReceivedRequest) => boolean = () => true): Promise<boolean> => {
    const sinceMs = Date.now()
    const isNew = (request: ReceivedRequest): boolean => request.receivedAt >= sinceMs && fits(request)
    return waitUntil(() => receiver.requests(`/${name}`).some(isNew), ARRIVES_WITHIN_MS, 100)
  }

  const kept = await create('kept', keyBefore)
  const deleted = await create('deleted', randomUUID())
  const rotated = await create('rotated', randomUUID())
  await Promise.all(['kept', 'deleted', 'rotated'].map((name) => arrivesAt(name)))
  let created: Created | undefined

  return {
    /** Changes after the backup, which the restore undoes. */
    change: async (): Promise<void> => {
      created = await create('created', keyAfter)
      await remove(deleted.id)
      await client.insist('PATCH', `${PATH}/${kept.id}`, { description: 'changed' })
      // The overlap is over when the restore happens, so from then on the receiver expects the new secret alone.
      await client.insist('POST', `${PATH}/${rotated.id}/rotate-secret`, { overlapSeconds: 1 })
      await arrivesAt('created')
    },
    /** While Redis is empty: the answer to a read of a subscription that exists. */
    readWhileEmpty: async (): Promise<Finding> => {
      const { status } = await client.request('GET', `${PATH}/${kept.id}`)
      return { what: 'while Redis is empty, a subscription is answered 503, not 404', holds: status === 503 }
    },
    /** After the restore. Ends by deleting its subscriptions. */
    look: async (): Promise<readonly Finding[]> => {
      const again = await create('kept', keyBefore)
      const anew = await create('created', keyAfter)
      const findings: Finding[] = [
        {
          what: 'an idempotency key from before the backup returns the same subscription',
          holds: again.id === kept.id && again.reply.status === 201,
        },
        {
          what: 'a subscription created after the backup is gone (404)',
          holds: (await get(created?.id ?? '')).status === 404,
        },
        {
          what: 'its idempotency key is forgotten: the same request creates another one',
          holds: anew.reply.status === 201 && anew.id !== created?.id,
        },
        { what: 'the new one receives events', holds: await arrivesAt('created') },
        {
          what: 'a subscription deleted after the backup is back and receives events',
          holds: (await get(deleted.id)).status === 200 && (await arrivesAt('deleted')),
        },
        {
          what: 'a changed description is the old one again',
          holds: (await get(kept.id)).body['description'] === 'kept',
        },
        {
          what: 'a secret rotated after the backup is the old one again',
          holds: await arrivesAt(
            'rotated',
            (request) => signatureError(rotated.secret, request.headers, request.body) === undefined,
          ),
        },
      ]
      await Promise.all([kept.id, deleted.id, rotated.id, anew.id].map(remove))
      return findings
    },
  }
}
