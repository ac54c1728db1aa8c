import type { Platform } from '@switchhook/platform'
import type { Base } from '../feature.ts'
import type { Route } from '../http/route.ts'
import { showLink } from '../platform/link-meter.ts'
import { openPlatform } from '../platform/open-platform.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { type Center, createCenter } from './center.ts'

/** The platform and the stored state of its calls and agents. The routes of calls and agents build on it. */
export interface ContactCenter {
  readonly platform: Platform
  readonly center: Center
  readonly now: () => number
  readonly timers: TimerOwners
  readonly developmentRoutes: readonly Route[]
  /** Whether the platform's reports arrive, at this replica or another one. */
  readonly isLinked: () => boolean
  readonly close: () => Promise<void>
}

/** Opens the platform that `PLATFORM` names, and starts recording its reports. */
export async function openContactCenter(base: Base, state: State): Promise<ContactCenter> {
  const { config, now, traceOfRequest } = base
  const center = createCenter({
    store: state.store,
    readAhead: (...read) => state.store.readAhead(...read),
    platformKeys: (callId) => keysOfCall(callId),
    transact: state.transact,
    platform: { lookUp: (tenant, callId) => platform.lookUp(tenant, callId) },
    wrapUpMs: config.WRAP_UP_SECONDS * 1_000,
    now,
    traceOfRequest,
  })
  const { platform, link, keysOfCall, timers, developmentRoutes } = openPlatform(base, state, center.recordWith)
  showLink(base.metrics, link)
  await platform.start(center.listener)
  return {
    platform,
    center,
    now,
    developmentRoutes,
    isLinked: () => link() !== 'lost',
    timers: {
      ...timers,
      agent: (timer) => center.agentTimerDue(timer),
      // Stored timer ids begin with `audit:`, so processes of the previous version find their owner too.
      audit: (timer) => center.probeTimerDue(timer),
    },
    close: () => platform.stop(),
  }
}
