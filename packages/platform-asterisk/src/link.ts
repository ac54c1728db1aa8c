import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LinkState, PbxMemory, Surroundings } from '@switchhook/platform'
import type { AriEvent } from './ari/ari-model.ts'
import { openEventSocket } from './ari/event-socket.ts'
import type { AsteriskSettings } from './asterisk-config.ts'

export interface LinkDeps extends Pick<AsteriskSettings, 'server' | 'app'>, Pick<Surroundings, 'onError'> {
  readonly memory: PbxMemory
  readonly leaseMs: number
  /** Rejects with the reason if Asterisk cannot be reached. A WebSocket that does not open gives no reason. */
  readonly reach: () => Promise<void>
  readonly onEvent: (event: AriEvent) => void
  /** The event stream is open. Events that arrive before this resolves are delivered afterwards. */
  readonly onOpen: () => Promise<void>
  readonly onState: (state: LinkState) => void
}

export type AsteriskLink = ReturnType<typeof createLink>

const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000

/**
 * Keeps one event stream open in one of all replicas, because Asterisk sends the events of an application only to its
 * newest client. The replica that holds the lease connects.
 */
export function createLink(deps: LinkDeps) {
  const { memory, app, leaseMs, onError } = deps
  /** Names this process. */
  const owner = randomUUID()
  const leaseName = `asterisk:${app}`
  const stopping = new AbortController()
  let state: LinkState = 'lost'
  let running: Promise<void> | undefined
  const settled = Promise.withResolvers<void>()

  function enter(next: LinkState): void {
    if (next !== state) deps.onState(next)
    state = next
    if (next !== 'lost') settled.resolve()
  }

  const pause = (ms: number, ref = true): Promise<void> =>
    sleep(ms, undefined, { signal: stopping.signal, ref }).catch(() => {})

  type Holder = 'this' | 'another' | 'unknown'
  /** The latest answer of Redis, which holds for as long as the lease lasts. */
  let known: { readonly holder: Holder; readonly untilMs: number } = { holder: 'unknown', untilMs: 0 }

  async function takeLease(): Promise<void> {
    const untilMs = performance.now() + leaseMs
    const isOurs = await memory.lease(leaseName, owner, leaseMs)
    if (untilMs > known.untilMs) known = { holder: isOurs ? 'this' : 'another', untilMs }
  }

  /** Takes or prolongs the lease. Errors change nothing until the lease must have ended. */
  async function askForLease(): Promise<Holder> {
    const leftMs = known.untilMs - performance.now()
    // oxlint-disable-next-line no-restricted-properties -- the end of a lease is a hard limit, also after a stall
    await Promise.race([takeLease().catch(() => {}), pause(leftMs > 0 ? leftMs : leaseMs, false)])
    return performance.now() < known.untilMs ? known.holder : 'unknown'
  }

  async function follow(): Promise<void> {
    const waiting: AriEvent[] = []
    let isBuffering = true
    const onEvent = (event: AriEvent): void => {
      if (isBuffering) waiting.push(event)
      else deps.onEvent(event)
    }
    await deps.reach()
    const socket = await openEventSocket({ server: deps.server, app, onEvent })
    const over = new AbortController()
    const ended = AbortSignal.any([stopping.signal, over.signal])
    void socket.closed.then((reason) => over.abort(new Error(reason)))

    async function begin(): Promise<void> {
      await deps.onOpen()
      if (ended.aborted) return
      isBuffering = false
      for (const event of waiting) deps.onEvent(event)
      enter('connected')
    }

    try {
      // The lease is prolonged meanwhile: with many calls `onOpen` takes longer than it, and another replica that connected
      // would end this stream.
      begin().catch((error: unknown) => over.abort(error))
      for (;;) {
        const waitMs = Math.max(0, Math.min(leaseMs / 3, known.untilMs - performance.now()))
        await sleep(waitMs, undefined, { signal: ended }).catch(() => {})
        if (stopping.signal.aborted) return
        over.signal.throwIfAborted()
        const holder = await askForLease()
        if (holder === 'another' || stopping.signal.aborted) return
        if (holder === 'unknown') throw new Error('Redis did not confirm the lease of the event stream in time')
      }
    } finally {
      over.abort()
      socket.close()
    }
  }

  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!stopping.signal.aborted) {
      const holder = await askForLease()
      if (holder !== 'this') {
        enter(holder === 'another' ? 'standby' : 'lost')
        await pause(leaseMs / 3)
        continue
      }
      const startedAtMs = Date.now()
      await follow().catch((error: unknown) => onError('the event stream of Asterisk is interrupted', error))
      if (stopping.signal.aborted) break
      enter('lost')
      pauseMs = Date.now() - startedAtMs > MAX_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS)
      await pause(pauseMs)
    }
  }

  return {
    /** Resolves when the stream is open, or another replica has it. */
    async start(): Promise<void> {
      running ??= run()
      await settled.promise
    },
    /** Closes the stream. `release` false keeps the lease, like a process that dies. */
    async stop(release: boolean): Promise<void> {
      stopping.abort()
      await running
      if (release && running !== undefined) await memory.release(leaseName, owner).catch(() => {})
    },
    get state(): LinkState {
      return state
    },
  }
}
