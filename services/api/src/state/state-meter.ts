import { CallState, type CallStatus, EndReason, EVENT_TYPES } from '@switchhook/contracts'
import type { Counter, Metrics } from '@switchhook/runtime'
import type { Outbox, Redis, TimerStore } from '@switchhook/store'
import type { TimerOwners } from './timer-loop.ts'
import type { Writing } from './transact.ts'

/** Counts the stored events of calls and agents, and the events that the broker has confirmed. */
export function createEventMeter(metrics: Metrics) {
  const accepted = metrics.counter(
    'switchhook_events_accepted_total',
    'Events stored, each together with the state that it reports.',
  )
  const byType = new Map(EVENT_TYPES.map((eventType) => [eventType, accepted.of({ event_type: eventType })]))
  const relayed = metrics
    .counter('switchhook_events_relayed_total', 'Events of the outbox that the broker has confirmed.')
    .of({})
  const begun = metrics
    .counter('switchhook_call_legs_begun_total', 'Call legs that were reported for the first time.')
    .of({})
  const ended = metrics.counter('switchhook_call_legs_ended_total', 'Call legs that have ended, by reason.')
  const byReason = new Map<unknown, Counter>(
    Object.entries(EndReason).map(([reason, number]) => [number, ended.of({ reason })]),
  )

  return {
    written: ({ events = [] }: Pick<Writing, 'events'>): void => {
      for (const { eventType, data } of events) {
        byType.get(eventType)?.add()
        if (eventType !== 'call.status') continue
        const { sequence, state, endReason } = data as Partial<CallStatus>
        if (sequence === 1) begun.add()
        if (state === CallState.ended) byReason.get(endReason)?.add()
      }
    },
    /** Wraps `sent` of the outbox, so that each event counts when it is marked sent. */
    relaying:
      (outbox: Pick<Outbox, 'sent'>): Outbox['sent'] =>
      async (entries) => {
        await outbox.sent(entries)
        relayed.add(entries.length)
      },
  }
}

/** Wraps the owners so that each handled timer counts. A timer that fails and is retried counts each time. */
export function countTimers(metrics: Metrics, owners: TimerOwners): TimerOwners {
  const fired = metrics.counter('switchhook_timers_fired_total', 'Timers handled, by owner and result.')
  const counted = Object.entries(owners).map(([owner, handle]) => {
    const [done, failed] = [fired.of({ owner, result: 'done' }), fired.of({ owner, result: 'failed' })]
    const counting: typeof handle = async (timer) => {
      try {
        await handle(timer)
        done.add()
      } catch (error) {
        failed.add()
        throw error
      }
    }
    return [owner, counting] as const
  })
  return Object.fromEntries(counted)
}

/** Every replica reads the same values from Redis, so a query takes their maximum. During an outage they are left out. */
export function showGauges(metrics: Metrics, outbox: Outbox, timers: TimerStore, redis: Redis): void {
  metrics.gauge('switchhook_outbox_events', 'Events in the outbox that no broker has confirmed yet.', () =>
    outbox.depth(),
  )
  metrics.gauge(
    'switchhook_outbox_oldest_age_seconds',
    'Age of the oldest event in the outbox.',
    async () => (await outbox.oldestMs()) / 1_000,
  )
  metrics.gauge(
    'switchhook_timers_overdue_seconds',
    'How long the oldest unclaimed timer has been due.',
    async () => (await timers.overdueMs()) / 1_000,
  )
  metrics.gauge(
    'switchhook_redis_memory_used_bytes',
    'Memory that Redis uses; in a cluster, the memory of the fullest node.',
    async () => (await redis.memory())?.usedBytes,
  )
  metrics.gauge(
    'switchhook_redis_memory_max_bytes',
    'Memory limit of Redis (maxmemory), above which it refuses writes; 0: no limit.',
    async () => (await redis.memory())?.maxBytes,
  )
}
