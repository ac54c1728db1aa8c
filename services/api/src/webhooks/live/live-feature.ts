import { createLiveAttemptStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { createLiveHub } from './live-hub.ts'
import { streamEvents } from './stream-route.ts'

/** The live stream of events and attempts. */
export const live = feature([streamEvents], ({ config, redis, journal, log, metrics, now }: Base) => {
  const hub = createLiveHub({
    journal,
    attempts: createLiveAttemptStore(redis),
    mostPerTenant: config.STREAM_LISTENERS_PER_TENANT,
    mostPerClient: config.STREAM_LISTENERS_PER_CLIENT,
    log,
  })
  metrics.gauge('switchhook_live_streams', 'Live streams that are open.', () => hub.count())
  return { deps: { hub, journal, now }, endRequests: () => hub.close() }
})
