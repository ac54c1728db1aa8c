import type { CallId } from '@switchhook/contracts'
import type { LinkState, Platform } from '@switchhook/platform'
import type { Simulator } from '@switchhook/platform-simulator'
import type { Metrics } from '@switchhook/runtime'
import type { Base } from '../base.ts'
import type { ApiConfig } from '../config.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { createCenter, createRecordWith, type RecordWith } from './center/center.ts'
import { openAsterisk } from './platform/asterisk/open-asterisk.ts'
import { openSimulator } from './platform/simulator/open-simulator.ts'

/** The platform and the stored state of its calls and agents. The routes of calls and agents build on it. */
export type ContactCenter = Awaited<ReturnType<typeof openContactCenter>>

/** Opens the platform that `PLATFORM` names, and starts recording its reports. */
export async function openContactCenter(base: Base, state: State) {
  const { config, installation, now, traceOfRequest } = base
  const { store, transact } = state
  const recordWith = createRecordWith(transact, config.WRAP_UP_SECONDS * 1_000, now)
  const opened = openPlatform(base, state, recordWith)
  const { platform, link, keysOfCall: platformKeys, timers, simulator } = opened
  const center = createCenter({ store, transact, recordWith, platform, platformKeys, now, traceOfRequest })
  showLink(base.metrics, opened)
  await platform.start(center.listener)
  return {
    platform,
    // In an emptied Redis calls are missing from every agent, also from one that has changed since. Receivers would end the
    // calls that they show.
    center: {
      ...center,
      readAgent: installation.confirmAbsence(center.readAgent, isRead),
      readAgents: installation.confirmAbsence(center.readAgents, isRead),
    },
    now,
    simulator,
    /** Whether the platform's reports arrive, at this replica or another one. */
    isLinked: (): boolean => link() !== 'lost',
    timers: {
      ...timers,
      agent: (timer) => center.agentTimerDue(timer),
      probe: (timer) => center.probeTimerDue(timer),
    } satisfies TimerOwners,
    close: () => platform.stop(),
  }
}

export const isRead = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'fulfilled'

const LINK_STATES: readonly LinkState[] = ['connected', 'standby', 'lost']

/** Shows the link to the platform as one series per state, and the platform's channels without a stored call. */
function showLink(metrics: Metrics, { link, unknownChannels }: OpenedPlatform): void {
  metrics.gauge(
    'switchhook_platform_unknown_channels',
    'Channels of the contact-center platform without a stored call.',
    unknownChannels,
  )
  metrics.gauges(
    'switchhook_platform_link',
    'Link to the contact-center platform: 1 for its present state, 0 for the others.',
    () => LINK_STATES.map((state) => ({ labels: { state }, value: link() === state ? 1 : 0 })),
  )
}

/** A platform adapter together with the parts that only this adapter has. */
interface OpenedPlatform {
  readonly platform: Platform
  readonly link: () => LinkState
  readonly unknownChannels: () => number
  /** Keys of the adapter's own records that a command on this call reads. */
  readonly keysOfCall: (callId: CallId) => readonly string[]
  readonly timers: TimerOwners
  /** For its development routes. Null in production, and for a real platform. */
  readonly simulator: Simulator | null
}

/** @param record for an adapter whose own state is in the same store as the calls */
type OpenPlatform = (base: Base, state: State, record: RecordWith) => OpenedPlatform

/** One entry per value of `PLATFORM`. Each adapter is a folder here, like `simulator/`. */
const PLATFORMS: Readonly<Record<NonNullable<ApiConfig['PLATFORM']>, OpenPlatform>> = {
  simulator: openSimulator,
  asterisk: openAsterisk,
}

export const openPlatform: OpenPlatform = (base, state, record) =>
  PLATFORMS[base.config.PLATFORM ?? 'simulator'](base, state, record)
