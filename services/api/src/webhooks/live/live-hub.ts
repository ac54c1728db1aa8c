import type { Tenant } from '@switchhook/contracts'
import { createKeyedQueue, getOrCreate, type Poll, startPoll } from '@switchhook/runtime'
import { BEGINNING, type JournalId, LISTEN_AGAIN_MS, type LiveAttemptStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import type { EventOutput } from '../../http/event-output.ts'
import { retryAfter } from '../../http/headered-error.ts'
import { type Listener, startListener } from './listener.ts'
import { type LiveFilter, liveAttempt, liveEvent } from './live-events.ts'

interface LiveHubDeps {
  readonly journal: Pick<Base['journal'], 'after' | 'read' | 'newest' | 'hasAll'>
  readonly attempts: Pick<LiveAttemptStore, 'listen' | 'newest' | 'after'>
  readonly config: Pick<Base['config'], 'STREAM_LISTENERS_PER_TENANT' | 'STREAM_LISTENERS_PER_CLIENT'>
  readonly log: Pick<Base['log'], 'warn' | 'info'>
}

interface AskedStream {
  readonly filter: LiveFilter
  readonly resumeAfter: JournalId | undefined
  /** It begins at a time before what is left of the journal, so nothing before that is missing. */
  readonly isCut: boolean
  /** Undefined: the stream has no end. */
  readonly closeInMs: number | undefined
}

/** Of all tenants. Each can hold 128 KiB of unread text. */
const MAX_LISTENERS = 2_000
const READ_EVERY_MS = 100
/** The wait grows while nothing happens. */
const MAX_WAIT_MS = 250
const RETRY_MS = 1_000
/** Entries of one read. More are read immediately, after the listeners have got these. */
const MAX_EVENTS = 100
const MAX_BATCHES = 20
const TICK_MS = 1_000
/** The longest time that `setTimeout` accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1
const RETRY_AFTER_SECONDS = 10

export type LiveHub = ReturnType<typeof createLiveHub>

/** The live streams of this process. It reads the stream of each tenant that has listeners, once for all of them. */
export function createLiveHub({ journal, attempts, config, log }: LiveHubDeps) {
  type Channel = ReturnType<typeof newChannel>
  const channels = new Map<Tenant, Channel>()
  /** The places that are taken, including those of listeners that have not started. */
  const seats = new Set<{ readonly channel: Channel; readonly client: string | undefined }>()
  /** Listeners read the journal in turns: those of one client, then the clients of one tenant, which can invent them. */
  const ofClients = createKeyedQueue()
  const ofTenants = createKeyedQueue()
  let isClosing = false
  let ticker: NodeJS.Timeout | undefined

  const isKept = async (tenant: Tenant, place: JournalId): Promise<boolean> =>
    place === BEGINNING ? journal.hasAll(tenant) : (await journal.read(tenant, place)) !== undefined

  /** The stream of one tenant, while it has listeners. */
  function newChannel(tenant: Tenant) {
    const listeners = new Set<Listener>()
    let place = BEGINNING
    let attemptsPlace = '0-0'
    let askedAtMs = 0
    let waitMs = READ_EVERY_MS
    /** Attempts may be missing meanwhile. */
    let hasFailed = false
    let poll: Poll | undefined

    async function open(): Promise<void> {
      ;[place, attemptsPlace] = await Promise.all([
        journal.newest(tenant),
        attempts.newest(tenant),
        attempts.listen(tenant),
      ])
      askedAtMs = performance.now()
      if (!isClosing) poll = startPoll(READ_EVERY_MS, readAgain)
    }

    /** Reads once, and resolves to when to read again, in ms. */
    async function readAgain(): Promise<number> {
      try {
        if (performance.now() - askedAtMs >= LISTEN_AGAIN_MS) {
          await attempts.listen(tenant)
          askedAtMs = performance.now()
        }
        const { isEmpty, hasMore } = await read()
        if (hasFailed) log.info('the live stream is read again')
        hasFailed = false
        waitMs = isEmpty ? Math.min(waitMs * 1.5, MAX_WAIT_MS) : READ_EVERY_MS
        return hasMore ? 0 : waitMs
      } catch (error) {
        if (!hasFailed) log.warn('the live stream cannot be read; retrying', { error })
        hasFailed = true
        return RETRY_MS
      }
    }

    async function read() {
      const [events, batches] = await Promise.all([
        journal.after(tenant, place, MAX_EVENTS),
        attempts.after(tenant, attemptsPlace, MAX_BATCHES),
      ])
      const isTrimmed = events.length > 0 && !(await isKept(tenant, place))
      place = events.at(-1)?.id ?? place
      attemptsPlace = batches.at(-1)?.id ?? attemptsPlace
      const isEmpty = events.length === 0 && batches.length === 0
      if (!isEmpty || hasFailed) {
        const batch = {
          events: events.map(liveEvent),
          attempts: batches.flatMap((each) => each.attempts.map(liveAttempt)),
          isGap: hasFailed || isTrimmed || batches.some(({ left }) => left > 0),
          place,
        }
        for (const listener of listeners) listener.offer(batch)
      }
      return { isEmpty, hasMore: events.length === MAX_EVENTS || batches.length === MAX_BATCHES }
    }

    return { tenant, listeners, opened: open(), place: () => place, stop: async () => poll?.stop() }
  }

  return {
    count: () => seats.size,
    /**
     * Takes a place for one listener.
     * @param client a name that no other client has; undefined: only the limit of the tenant applies
     * @throws AppError `too-many-listeners`, `too-many-client-listeners` or `service-unavailable`; Unavailable if Redis is
     * away
     */
    async take(tenant: Tenant, client?: string) {
      if (isClosing) throw retryAfter('service-unavailable', RETRY_AFTER_SECONDS)
      const ofTenant = [...seats].filter(({ channel }) => channel.tenant === tenant)
      if (ofTenant.length >= config.STREAM_LISTENERS_PER_TENANT || seats.size >= MAX_LISTENERS) {
        throw retryAfter('too-many-listeners', RETRY_AFTER_SECONDS)
      }
      const own = client === undefined ? [] : [...seats].filter((seat) => seat.client === client)
      if (own.length >= config.STREAM_LISTENERS_PER_CLIENT) {
        throw retryAfter('too-many-client-listeners', RETRY_AFTER_SECONDS)
      }
      // Opened only for a seat, which awaits it: without Redis, the unawaited rejection would end the process.
      const channel = getOrCreate(channels, tenant, () => newChannel(tenant))
      const seat = { channel, client }
      seats.add(seat)
      ticker ??= setInterval(() => {
        for (const { listeners } of channels.values()) for (const listener of listeners) listener.tick()
      }, TICK_MS)
      const leave = (): void => {
        seats.delete(seat)
        if (![...seats].some((other) => other.channel === channel)) {
          channels.delete(tenant)
          void channel.stop()
        }
        if (seats.size > 0) return
        clearInterval(ticker)
        ticker = undefined
      }
      try {
        await channel.opened
      } catch (error) {
        leave()
        throw error
      }
      return {
        /** Begins to write to the output. The place is free again when the output is closed. */
        start(output: EventOutput, { filter, resumeAfter, isCut, closeInMs }: AskedStream): void {
          const listener = startListener(
            {
              output,
              filter,
              history: {
                after: (place, count) =>
                  ofClients.run(client ?? `of ${tenant}`, () =>
                    ofTenants.run(JSON.stringify(tenant), () => journal.after(tenant, place, count)),
                  ),
                keeps: async (place) => (isCut && place === BEGINNING) || isKept(tenant, place),
              },
              place: channel.place,
              nowMs: () => performance.now(),
            },
            resumeAfter,
            isCut,
          )
          channel.listeners.add(listener)
          const expire = (): void => listener.end('the access token has expired')
          const endIn = (ms: number) =>
            // oxlint-disable-next-line no-restricted-globals -- the end of the token's validity, which a stall must not extend
            setTimeout(expire, Math.min(Math.max(ms, 0), MAX_TIMER_MS))
          const timer = closeInMs === undefined ? undefined : endIn(closeInMs)
          output.closed(() => {
            clearTimeout(timer)
            channel.listeners.delete(listener)
            leave()
          })
          if (isClosing) listener.end('the server is shutting down')
        },
      }
    },
    /** Ends all streams. Clients come back to another process. */
    async close(): Promise<void> {
      isClosing = true
      clearInterval(ticker)
      const stopped = [...channels.values()].map((channel) => channel.stop())
      for (const { listeners } of channels.values()) {
        for (const listener of listeners) listener.end('the server is shutting down')
      }
      await Promise.all(stopped)
    },
  }
}
