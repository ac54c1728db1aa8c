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
  /** It begins with what the journal has from a time on, so nothing before that is missing. */
  readonly isSince: boolean
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

/** The stream of one tenant, while it has listeners. */
interface Channel {
  readonly tenant: Tenant
  readonly listeners: Set<Listener>
  /** Seats that are taken, including listeners that have not started. */
  seats: number
  place: JournalId
  attemptsPlace: string
  opened: Promise<void>
  poll?: Poll
}

export type LiveHub = ReturnType<typeof createLiveHub>

/** The live streams of this process. It reads the stream of each tenant that has listeners, once for all of them. */
export function createLiveHub({ journal, attempts, config, log }: LiveHubDeps) {
  const channels = new Map<Tenant, Channel>()
  const seatsOfClients = new Map<string, number>()
  /** The listeners of one client read the journal in turns, however many of them catch up. */
  const historyReads = createKeyedQueue()
  let isClosing = false
  let seats = 0
  let ticker: NodeJS.Timeout | undefined

  function newChannel(tenant: Tenant): Channel {
    const listeners = new Set<Listener>()
    const opened = Promise.resolve()
    const channel: Channel = { tenant, listeners, seats: 0, place: BEGINNING, attemptsPlace: '0-0', opened }
    channel.opened = open(channel)
    return channel
  }

  async function open(channel: Channel): Promise<void> {
    const { tenant } = channel
    const [place, attemptsPlace] = await Promise.all([
      journal.newest(tenant),
      attempts.newest(tenant),
      attempts.listen(tenant),
    ])
    channel.place = place
    channel.attemptsPlace = attemptsPlace
    if (!isClosing) channel.poll = startPoll(READ_EVERY_MS, readerOf(channel))
  }

  /** Its function reads once, and resolves to when to read again, in ms. */
  function readerOf(channel: Channel): () => Promise<number> {
    let askedAtMs = performance.now()
    let waitMs = READ_EVERY_MS
    let hasFailed = false
    return async () => {
      try {
        if (performance.now() - askedAtMs >= LISTEN_AGAIN_MS) {
          await attempts.listen(channel.tenant)
          askedAtMs = performance.now()
        }
        const read = await readOnce(channel, hasFailed)
        if (hasFailed) log.info('the live stream is read again')
        hasFailed = false
        waitMs = read.isEmpty ? Math.min(waitMs * 1.5, MAX_WAIT_MS) : READ_EVERY_MS
        return read.hasMore ? 0 : waitMs
      } catch (error) {
        if (!hasFailed) log.warn('the live stream cannot be read; retrying', { error })
        hasFailed = true
        return RETRY_MS
      }
    }
  }

  const isKept = async (tenant: Tenant, place: JournalId): Promise<boolean> =>
    place === BEGINNING ? journal.hasAll(tenant) : (await journal.read(tenant, place)) !== undefined

  /** @param hasFailed a read has failed before: attempts may be missing meanwhile */
  async function readOnce(channel: Channel, hasFailed: boolean) {
    const { tenant } = channel
    const [events, batches] = await Promise.all([
      journal.after(tenant, channel.place, MAX_EVENTS),
      attempts.after(tenant, channel.attemptsPlace, MAX_BATCHES),
    ])
    const isTrimmed = events.length > 0 && !(await isKept(tenant, channel.place))
    channel.place = events.at(-1)?.id ?? channel.place
    channel.attemptsPlace = batches.at(-1)?.id ?? channel.attemptsPlace
    const isEmpty = events.length === 0 && batches.length === 0
    if (!isEmpty || hasFailed) {
      const batch = {
        events: events.map(liveEvent),
        attempts: batches.flatMap((each) => each.attempts.map(liveAttempt)),
        isGap: hasFailed || isTrimmed || batches.some(({ left }) => left > 0),
        place: channel.place,
      }
      for (const listener of channel.listeners) listener.offer(batch)
    }
    return { isEmpty, hasMore: events.length === MAX_EVENTS || batches.length === MAX_BATCHES }
  }

  function tick(): void {
    for (const { listeners } of channels.values()) for (const listener of listeners) listener.tick()
  }

  function addSeats(channel: Channel, client: string | undefined, change: 1 | -1): void {
    channel.seats += change
    seats += change
    if (client === undefined) return
    const left = (seatsOfClients.get(client) ?? 0) + change
    if (left > 0) seatsOfClients.set(client, left)
    else seatsOfClients.delete(client)
  }

  function leave(channel: Channel, client: string | undefined): void {
    addSeats(channel, client, -1)
    if (channel.seats === 0) {
      void channel.poll?.stop()
      if (channels.get(channel.tenant) === channel) channels.delete(channel.tenant)
    }
    if (seats > 0) return
    clearInterval(ticker)
    ticker = undefined
  }

  return {
    count: () => seats,
    /**
     * Takes a place for one listener.
     * @param client a name that no other client has; undefined: only the limit of the tenant applies
     * @throws AppError `too-many-listeners`, `too-many-client-listeners` or `service-unavailable`; Unavailable if Redis is
     * away
     */
    async take(tenant: Tenant, client?: string) {
      if (isClosing) throw retryAfter('service-unavailable', RETRY_AFTER_SECONDS)
      const taken = channels.get(tenant)?.seats ?? 0
      if (taken >= config.STREAM_LISTENERS_PER_TENANT || seats >= MAX_LISTENERS) {
        throw retryAfter('too-many-listeners', RETRY_AFTER_SECONDS)
      }
      const own = client === undefined ? 0 : (seatsOfClients.get(client) ?? 0)
      if (own >= config.STREAM_LISTENERS_PER_CLIENT) throw retryAfter('too-many-client-listeners', RETRY_AFTER_SECONDS)
      // Opened only for a seat, which awaits it: without Redis, the unawaited rejection would end the process.
      const channel = getOrCreate(channels, tenant, () => newChannel(tenant))
      addSeats(channel, client, 1)
      ticker ??= setInterval(tick, TICK_MS)
      try {
        await channel.opened
      } catch (error) {
        leave(channel, client)
        throw error
      }
      return {
        /** Begins to write to the output. The place is free again when the output is closed. */
        start(output: EventOutput, { filter, resumeAfter, isSince, closeInMs }: AskedStream): void {
          const listener = startListener(
            {
              output,
              filter,
              history: {
                after: (place, count) =>
                  historyReads.run(client ?? `of ${tenant}`, () => journal.after(tenant, place, count)),
                keeps: async (place) => (isSince && place === BEGINNING) || isKept(tenant, place),
              },
              place: () => channel.place,
              nowMs: () => performance.now(),
            },
            resumeAfter,
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
            leave(channel, client)
          })
          if (isClosing) listener.end('the server is shutting down')
        },
      }
    },
    /** Ends all streams. Clients come back to another process. */
    async close(): Promise<void> {
      isClosing = true
      clearInterval(ticker)
      const polls = [...channels.values()].map(async ({ poll }) => poll?.stop())
      for (const { listeners } of channels.values()) {
        for (const listener of listeners) listener.end('the server is shutting down')
      }
      await Promise.all(polls)
    },
  }
}
