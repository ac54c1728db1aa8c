import { CallState, type CallStatus, EndReason, EVENT_TYPES } from '@switchhook/contracts'
import type { Counter, Metrics } from '@switchhook/runtime'
import type { Outbox } from '@switchhook/store'
import type { NewEvent, Writing } from './transact.ts'

export interface CenterMeter {
  /** Told of each step that was stored. */
  readonly written: (writing: Pick<Writing, 'events'>) => void
  /** The same outbox, and a count of what is marked sent. */
  readonly relaying: (outbox: Pick<Outbox, 'claim' | 'sent'>) => Pick<Outbox, 'claim' | 'sent'>
}

/** Counts the events of calls and agents that were stored, and those that the broker has confirmed. */
export function createCenterMeter(metrics: Metrics): CenterMeter {
  const accepted = metrics.counter(
    'switchhook_events_accepted_total',
    'Events stored, each with the state it tells of.',
  )
  const byType = new Map(EVENT_TYPES.map((eventType) => [eventType, accepted.of({ event_type: eventType })]))
  const relayed = metrics
    .counter('switchhook_events_relayed_total', 'Events of the outbox that the broker has confirmed.')
    .of({})
  const begun = metrics
    .counter('switchhook_call_legs_begun_total', 'Legs of calls that were told of for the first time.')
    .of({})
  const ended = metrics.counter('switchhook_call_legs_ended_total', 'Legs of calls that have ended, by reason.')
  const byReason = new Map<unknown, Counter>(
    Object.entries(EndReason).map(([reason, number]) => [number, ended.of({ reason })]),
  )

  function noteEvent({ eventType, data }: NewEvent): void {
    byType.get(eventType)?.add()
    if (eventType !== 'call.status') return
    const { sequence, state, endReason } = data as Partial<CallStatus>
    if (sequence === 1) begun.add()
    if (state === CallState.ended) byReason.get(endReason)?.add()
  }

  return {
    written: ({ events = [] }) => {
      for (const event of events) noteEvent(event)
    },
    relaying: (outbox) => ({
      claim: (max) => outbox.claim(max),
      sent: async (entries) => {
        await outbox.sent(entries)
        relayed.add(entries.length)
      },
    }),
  }
}
