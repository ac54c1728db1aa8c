import { createLiveAttemptStore } from '@switchhook/store'
import type { Base, Feature } from '../feature.ts'
import { createLiveHub } from './live-hub.ts'
import { createStreamRoute } from './stream-route.ts'

export interface LiveFeature extends Feature {
  readonly close: () => Promise<void>
}

/** The live stream of events and attempts. */
export function createLiveFeature({ config, redis, journal, log, metrics, now }: Base): LiveFeature {
  const hub = createLiveHub({
    journal,
    attempts: createLiveAttemptStore(redis),
    mostPerTenant: config.STREAM_LISTENERS_PER_TENANT,
    log,
  })
  metrics.gauge('switchhook_live_streams', 'Live streams that are open.', () => hub.count())
  return {
    routes: [createStreamRoute({ hub, isJournalOn: journal.isOn, now })],
    close: () => hub.close(),
  }
}
