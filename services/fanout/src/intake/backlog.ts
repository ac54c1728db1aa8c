import { type PlatformEvent, parseEvent, Unavailable } from '@switchhook/contracts'
import type { SingleEvent } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import pMap from 'p-map'
import { encodePack, type Pack } from './pack.ts'

/** Events of one pack that wait for turns or are handled at the same time: enough to hide the latency of confirms. */
const EVENTS_AT_ONCE = 32
/** After so many returns a pack is taken apart: one of its events may be ending the process. */
const RETURNS_TO_TAKE_APART = 5

export interface BacklogDeps {
  /** Resolves to false if the events must go back to the broker. */
  readonly takeTurn: () => Promise<boolean> | boolean
  readonly giveBack: () => void
  readonly handle: (event: PlatformEvent) => Promise<void>
  /** Resolves once the event is in fan-out's queue, which handles it without others. */
  readonly publishAlone: (event: SingleEvent) => Promise<void>
  readonly publishPack: (content: Buffer) => Promise<void>
  readonly log: Pick<Logger, 'error' | 'warn'>
}

/**
 * Handles the events of a pack. Resolved: each of them is handled or stored again. Rejected with Unavailable: the pack must
 * be retried. An event that fails for another reason leaves the pack, so that it holds no other event.
 */
export function createHandlePack(deps: BacklogDeps): (pack: Pack) => Promise<void> {
  const { takeTurn, giveBack, handle, publishAlone, publishPack, log } = deps

  async function handleOne(single: SingleEvent): Promise<void> {
    try {
      await handle(eventOf(single))
    } catch (error) {
      if (error instanceof Unavailable) throw error
      log.error('an event failed in its pack; publishing it alone', { eventType: single.eventType, error })
      await publishAlone(single)
    }
  }

  return async ({ events, returns }) => {
    if (returns >= RETURNS_TO_TAKE_APART) {
      log.warn('a pack of events was returned too often; publishing its events alone', { returns })
      await pMap(events, publishAlone)
      return
    }
    const left: SingleEvent[] = []
    let isOver = false
    await pMap(
      events,
      async (single) => {
        if (isOver || !(await takeTurn())) {
          isOver = true
          left.push(single)
          return
        }
        try {
          await handleOne(single)
        } finally {
          giveBack()
        }
      },
      { concurrency: EVENTS_AT_ONCE },
    )
    // If the broker returned the whole pack instead, the events that are done would be repeated.
    if (left.length > 0) await publishPack(encodePack(left))
  }
}

function eventOf({ content, traceparent }: SingleEvent): PlatformEvent {
  const event = parseEvent(content)
  return traceparent === undefined ? event : { ...event, traceparent }
}
