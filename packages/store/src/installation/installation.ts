import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  INSTALLATION_HEADER,
  type InstallationId,
  readInstallation,
  Unavailable,
  Unparsable,
} from '@switchhook/contracts'
import { type Logger, startPoll } from '@switchhook/runtime'
import type { Redis } from '../redis/redis.ts'
import { createInstallationStore, mayContinue, originOf, type StoredInstallation } from './installation-store.ts'

/**
 * Keeps a process from acknowledging messages against the wrong Redis: an empty one, or one of another installation. In
 * an empty Redis there are no subscriptions: events would get no deliveries, and first attempts would be withdrawn.
 */
export type Installation = Awaited<ReturnType<typeof openInstallation>>

const CHECK_EVERY_MS = 2_000
const RETRY_ESTABLISH_MS = 500

/** Any service may create the id. Messages carry their own, so consumers pause if an emptied Redis gets a new id. */
export async function openInstallation(options: {
  readonly redis: Redis
  readonly log: Pick<Logger, 'error' | 'info'>
  /** How often a process without traffic checks for a lost or restored Redis. */
  readonly checkEveryMs?: number
}) {
  const { redis, log, checkEveryMs = CHECK_EVERY_MS } = options
  const store = createInstallationStore(redis)
  let own = await establish()
  /** Why Redis does not belong to this process. Undefined: it does. */
  let mismatch: string | undefined
  /** Installations that messages named and that no operator has adopted or discarded. */
  const blocking = new Set<InstallationId>()
  const isConfirmed = (): boolean => mismatch === undefined && blocking.size === 0
  let confirmed = Promise.withResolvers<void>()

  async function establish(): Promise<StoredInstallation> {
    const id = randomUUID() as InstallationId
    for (;;) {
      try {
        const stored = await store.establish(id)
        if (stored.id === id) log.info('installation created', { installation: stored.id })
        return stored
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await redis.ready()
        // A full Redis may be ready and still refuse the write.
        await sleep(RETRY_ESTABLISH_MS)
      }
    }
  }

  /** Logs each mismatch once, regardless of how many messages wait because of it. */
  function noteMismatch(found: StoredInstallation | undefined): Unavailable {
    const text =
      found === undefined
        ? `Redis lost its data: it holds no installation, but this process belongs to ${own.id}`
        : `Redis holds installation ${found.id}, this process belongs to ${own.id}`
    if (text !== mismatch) log.error(text, { redis: found?.id ?? null, process: own.id })
    mismatch = text
    return new Unavailable('redis', text)
  }

  function noteForeign(id: InstallationId): Unavailable {
    const text = `a message belongs to installation ${id}, Redis holds ${own.id}`
    if (!blocking.has(id)) log.error(text, { messageFrom: id, redis: own.id })
    blocking.add(id)
    return new Unavailable('redis', text)
  }

  function notePresent(found: StoredInstallation): void {
    const wasConfirmed = isConfirmed()
    if (found.id !== own.id) log.info('continuing another installation', { redis: found.id, process: own.id })
    own = found
    mismatch = undefined
    for (const id of blocking) if (originOf(id, own) !== 'foreign') blocking.delete(id)
    if (wasConfirmed || !isConfirmed()) return
    log.info('Redis and messages belong to one installation again', { installation: own.id })
    confirmed.resolve()
    confirmed = Promise.withResolvers()
  }

  /** Messages in progress were checked against the former id. Their consumer checks them again after a pause. */
  const continued = (): Unavailable => new Unavailable('redis', `this process now continues installation ${own.id}`)

  async function verify(): Promise<void> {
    const found = await store.read()
    if (!mayContinue(own, found)) throw noteMismatch(found)
    const before = own.id
    notePresent(found)
    if (found.id !== before) throw continued()
  }

  // If it rejects, the reason is already logged: by the connection or as a mismatch.
  const poll = startPoll(checkEveryMs, () => verify().catch(() => {}))

  function checkHeader(header: unknown): void {
    const id = readInstallation(header)
    if (mismatch !== undefined) throw new Unavailable('redis', mismatch)
    if (id === undefined) return
    const origin = originOf(id, own)
    if (origin === 'foreign') throw noteForeign(id)
    if (origin === 'discarded') throw new Unparsable(`an operator discarded its installation, ${id}`)
  }

  return {
    /** The id for the messages that this process publishes. */
    id: (): InstallationId => own.id,
    /** For `/readyz`: Redis holds this installation, and no message of another installation blocks a consumer. */
    isConfirmed,
    /**
     * Makes `parse` check the installation header of each message first, without I/O. One without it is accepted while
     * Redis holds this installation. @throws Unavailable: the consumer must pause; Unparsable: it was discarded
     */
    checked:
      <Message extends { readonly headers: Readonly<Record<string, unknown>> }, T>(parse: (message: Message) => T) =>
      (message: Message): T => {
        const header = message.headers[INSTALLATION_HEADER]
        if (mismatch !== undefined || (header !== undefined && header !== own.id)) checkHeader(header)
        return parse(message)
      },
    /** Makes `work` verify the installation before it reports that something does not exist, by its result or by an error. */
    confirmAbsence:
      <Args extends readonly unknown[], T>(
        work: (...args: Args) => Promise<T>,
        isAbsence: (outcome: PromiseSettledResult<T>) => boolean,
      ) =>
      async (...args: Args): Promise<T> => {
        const before = own.id
        const [outcome] = await Promise.allSettled([work(...args)])
        if (isAbsence(outcome)) {
          await verify()
          if (own.id !== before) throw continued()
        }
        if (outcome.status === 'rejected') throw outcome.reason
        return outcome.value
      },
    /** Call it before acting on a missing record. @throws Unavailable unless Redis holds this installation */
    verify,
    /** Resolves when consumers may continue. Rejects when Redis cannot be read. */
    recovered: async (): Promise<void> => {
      await redis.ready()
      await verify().catch((error: unknown) => {
        // A mismatch lasts until the data is restored or an operator decides. The poll notices both.
        if (isConfirmed()) throw error
      })
      if (!isConfirmed()) await confirmed.promise
    },
    close: (): void => void poll.stop(),
  }
}
