import { setTimeout as delay } from 'node:timers/promises'
import { isBefore, type JournalEntry, type JournalId } from '@switchhook/store'
import type { EventOutput } from '../../http/event-output.ts'
import {
  commentText,
  gapText,
  type LiveEvent,
  type LiveFilter,
  type LiveItem,
  liveEvent,
  placeText,
} from './live-events.ts'

export interface LiveBatch {
  /** In the order of the journal. */
  readonly events: readonly LiveEvent[]
  readonly attempts: readonly LiveItem[]
  /** Events or attempts before this batch are missing. */
  readonly isGap: boolean
  /** The place up to which events are read, with this batch. */
  readonly place: JournalId
}

interface ListenerDeps {
  readonly output: EventOutput
  readonly filter: LiveFilter
  readonly history: {
    /** At most `count` entries, the oldest first. */
    readonly after: (place: JournalId, count: number) => Promise<readonly JournalEntry[]>
    /** If not, it may have lost events after this place too: more happened than it keeps. */
    readonly keeps: (place: JournalId) => Promise<boolean>
  }
  /** The place up to which the tenant's stream has been read. */
  readonly place: () => JournalId
  /** Monotonic, in ms. */
  readonly nowMs: () => number
}

/** A connection that reads the live stream. Its memory is bounded, however slowly it reads. */
export type Listener = ReturnType<typeof startListener>

/** Beyond it the listener gets nothing more until it has read. */
const MAX_BUFFERED_BYTES = 128 * 1_024
/** A listener that reads nothing for this long is closed. */
const STUCK_MS = 30_000
const PING_MS = 15_000
/** Events of the journal that are read together for a listener that resumes. */
const PAGE = 50
const ROOM_CHECK_MS = 50

/** Shows the events after `resumeAfter` from the journal until it has caught up, then the batches of the stream. */
export function startListener(
  { output, filter, history, place, nowMs }: ListenerDeps,
  resumeAfter: JournalId | undefined,
  isCut = false,
) {
  /** Every event up to here was shown, filtered out, or reported as a gap. */
  let passed = resumeAfter ?? place()
  let isLive = resumeAfter === undefined
  /** Events or attempts after this place were left out, and the listener does not know yet. */
  let missedAfter: JournalId | undefined
  let blockedSinceMs: number | undefined
  let writtenAtMs = nowMs()

  function write(text: string): void {
    output.write(text)
    writtenAtMs = nowMs()
  }

  /** The text of the present batch, which is written together. */
  let gathered = ''

  function writeGathered(): void {
    if (gathered !== '') write(gathered)
    gathered = ''
  }

  function hasRoom(): boolean {
    if (output.bufferedBytes() + gathered.length < MAX_BUFFERED_BYTES) {
      blockedSinceMs = undefined
      return true
    }
    blockedSinceMs ??= nowMs()
    return false
  }

  function reportGap(resumedAt: JournalId): void {
    if (missedAfter !== undefined) gathered += gapText(missedAfter, resumedAt)
    missedAfter = undefined
  }

  function show(item: LiveItem, at: JournalId): void {
    if (!item.matches(filter)) return
    if (!hasRoom()) {
      missedAfter ??= passed
      return
    }
    reportGap(at)
    gathered += item.text()
  }

  async function catchUp(): Promise<void> {
    let isFirst = true
    for (;;) {
      const placeBefore = place()
      const page = await history.after(passed, PAGE)
      // Otherwise a client that is gone would have the whole journal searched for its filter.
      if (output.isClosed()) return
      // Also later: events can be trimmed while this listener waits for room.
      if (!(await history.keeps(passed))) {
        write(gapText(passed, page[0]?.id ?? place()))
        // A place that no event has reached yet would hide all events until then.
        if (isFirst && isBefore(place(), passed)) passed = place()
      }
      isFirst = false
      for (const entry of page) {
        const event = liveEvent(entry)
        if (event.matches(filter)) {
          while (!hasRoom() && !output.isClosed()) await delay(ROOM_CHECK_MS)
          if (output.isClosed()) return
          write(event.text())
        }
        passed = event.id
      }
      // What the journal no longer had before this page was read will not come.
      if (page.length === 0 && isBefore(passed, placeBefore)) passed = placeBefore
      // No batch can come between this comparison and the next line.
      if (!isBefore(passed, place())) {
        isLive = true
        if (isCut) write(placeText(passed))
        return
      }
    }
  }

  // Whoever resumes at the beginning of a journal that was cut would get a gap.
  if (!isCut) write(placeText(passed))
  if (!isLive) {
    // Redis is away: the client comes back with its last place.
    catchUp().catch(() => output.destroy())
  }

  return {
    /** Shows a batch. Must be called for every batch of the tenant, in order. */
    offer(batch: LiveBatch): void {
      if (!isLive) return
      if (batch.isGap) missedAfter ??= passed
      for (const event of batch.events) {
        if (!isBefore(passed, event.id)) continue
        show(event, event.id)
        passed = event.id
      }
      for (const attempt of batch.attempts) show(attempt, passed)
      if (isBefore(passed, batch.place)) passed = batch.place
      writeGathered()
    },
    /** Called about once a second: keeps the connection alive, and closes it if it does not read. */
    tick(): void {
      const isReading = hasRoom()
      if (blockedSinceMs !== undefined && nowMs() - blockedSinceMs >= STUCK_MS) return output.destroy()
      if (!isReading) return
      if (isLive) {
        reportGap(passed)
        writeGathered()
      }
      // The place moves on even if no event matches, so that a resumption need not read them again.
      const hasPlace = isLive || !isCut || passed !== resumeAfter
      if (hasPlace && nowMs() - writtenAtMs >= PING_MS) write(placeText(passed))
    },
    end(reason: string): void {
      write(commentText(reason))
      output.end()
    },
  }
}
