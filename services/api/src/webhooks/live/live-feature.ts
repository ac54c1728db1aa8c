import { createLiveAttemptStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { createLiveHub } from './live-hub.ts'
import { streamEvents } from './stream-route.ts'

export const live = feature([streamEvents], (base: Base) => {
  const { config, redis, metrics } = base
  const hub = createLiveHub({
    ...base,
    attempts: createLiveAttemptStore(redis),
    mostPerTenant: config.STREAM_LISTENERS_PER_TENANT,
    mostPerClient: config.STREAM_LISTENERS_PER_CLIENT,
  })
  metrics.gauge('switchhook_live_streams', 'Live streams that are open.', () => hub.count())
  return { deps: { ...base, hub }, endRequests: () => hub.close() }
})
