import { randomUUID } from 'node:crypto'
import { waitUntil } from '@switchhook/test-servers'
import { type ReceivedRequest, startReceiver } from '@switchhook/testkit'
import type { Client, Reply } from '../load/client.ts'
import { signatureError } from '../subscribers/secrets.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const ARRIVES_WITHIN_MS = 60_000

/**
 * Makes changes before and after a backup, and finds out what a restore did to them. Creates the subscriptions that exist
 * in the backup.
 * @param check notes whether an expectation held
 */
export async function openWitness(client: Client, check: (what: string, holds: boolean) => void) {
  const receiver = await startReceiver()
  const keyBefore = randomUUID()
  const keyAfter = randomUUID()

  async function create(name: string, key: string) {
    const body = { url: receiver.url(`/${name}`), eventTypes: ['call.status'], description: name }
    const reply = await client.insist('POST', PATH, body, { 'idempotency-key': key })
    return { id: String(reply.body['id']), secret: String(reply.body['secret']), status: reply.status }
  }
  const get = (id: string): Promise<Reply> => client.insist('GET', `${PATH}/${id}`)
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
  let createdId = ''
  const isSignedAsBefore = ({ headers, body }: ReceivedRequest): boolean =>
    signatureError(rotated.secret, headers, body) === undefined

  return {
    /** Changes after the backup, which the restore undoes. */
    change: async (): Promise<void> => {
      createdId = (await create('created', keyAfter)).id
      await client.insist('DELETE', `${PATH}/${deleted.id}`)
      await client.insist('PATCH', `${PATH}/${kept.id}`, { description: 'changed' })
      // The overlap is over when the restore happens, so from then on the receiver expects the new secret alone.
      await client.insist('POST', `${PATH}/${rotated.id}/rotate-secret`, { overlapSeconds: 1 })
      await arrivesAt('created')
    },
    /** While Redis is empty: the answer to a read of a subscription that exists. */
    readWhileEmpty: async (): Promise<void> => {
      const { status } = await client.request('GET', `${PATH}/${kept.id}`)
      check('while Redis is empty, a subscription is answered 503, not 404', status === 503)
    },
    /** After the restore. Ends by deleting its subscriptions. */
    look: async (): Promise<void> => {
      const again = await create('kept', keyBefore)
      const anew = await create('created', keyAfter)
      const isSame = again.id === kept.id && again.status === 201
      check('an idempotency key from before the backup returns the same subscription', isSame)
      check('a subscription created after the backup is gone (404)', (await get(createdId)).status === 404)
      const isAnother = anew.status === 201 && anew.id !== createdId
      check('its idempotency key is forgotten: the same request creates another one', isAnother)
      check('the new one receives events', await arrivesAt('created'))
      const isBack = (await get(deleted.id)).status === 200 && (await arrivesAt('deleted'))
      check('a subscription deleted after the backup is back and receives events', isBack)
      check('a changed description is the old one again', (await get(kept.id)).body['description'] === 'kept')
      check('a secret rotated after the backup is the old one again', await arrivesAt('rotated', isSignedAsBefore))
      for (const { id } of [kept, deleted, rotated, anew]) await client.insist('DELETE', `${PATH}/${id}`)
    },
    /** Once all deliveries have ended: an attempt may be in flight after `look`. */
    [Symbol.asyncDispose]: (): Promise<void> => receiver.close(),
  }
}
