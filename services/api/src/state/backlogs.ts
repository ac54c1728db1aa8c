import type { Metrics } from '@switchhook/runtime'
import type { Outbox, Redis, TimerStore } from '@switchhook/store'

/**
 * What waits in Redis for some api replica. Every replica shows the same: of several, take the highest. Without Redis
 * nobody knows, and nothing is shown.
 */
export function showBacklogs(
  metrics: Pick<Metrics, 'gauge'>,
  outbox: Pick<Outbox, 'backlog' | 'oldestMs'>,
  timers: Pick<TimerStore, 'overdueMs'>,
): void {
  metrics.gauge('switchhook_outbox_events', 'Events that no broker has confirmed yet.', () => outbox.backlog())
  metrics.gauge(
    'switchhook_outbox_oldest_age_seconds',
    'How long the oldest event that no broker has confirmed has waited.',
    async () => (await outbox.oldestMs()) / 1_000,
  )
  metrics.gauge(
    'switchhook_timers_overdue_seconds',
    'For how long the oldest timer that nobody has in hand has been due.',
    async () => (await timers.overdueMs()) / 1_000,
  )
}

/** Every replica shows the same. What Redis does not say is left out. */
export function showRedisMemory(metrics: Pick<Metrics, 'gauge'>, redis: Pick<Redis, 'memory'>): void {
  metrics.gauge(
    'switchhook_redis_memory_used_bytes',
    'Memory that Redis uses; of a cluster, that of the fullest node.',
    async () => (await redis.memory())?.usedBytes,
  )
  metrics.gauge(
    'switchhook_redis_memory_max_bytes',
    'Memory that Redis may use (maxmemory) before it refuses writes; 0: no limit is set.',
    async () => (await redis.memory())?.maxBytes,
  )
}
