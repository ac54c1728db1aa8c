import type { CallId } from '@switchhook/contracts'
import type { LinkState, Platform } from '@switchhook/platform'
import type { Center } from '../center/center.ts'
import type { ApiConfig } from '../config.ts'
import type { Base } from '../feature.ts'
import type { Route } from '../http/route.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { openAsteriskPlatform } from './asterisk/open-asterisk.ts'
import { openSimulatorPlatform } from './simulator/open-simulator.ts'

/** A platform adapter together with the parts that only this adapter has. */
interface OpenedPlatform {
  readonly platform: Platform
  /** The connection over which the platform reports. */
  readonly link: () => LinkState
  /** Keys of the adapter's own records that a command on this call reads. */
  readonly keysOfCall: (callId: CallId) => readonly string[]
  readonly timers: TimerOwners
  /** Routes without a token that act on the platform from outside. Empty in production. */
  readonly developmentRoutes: readonly Route[]
}

/** @param record for an adapter whose own state is in the same store as the calls */
type OpenPlatform = (base: Base, state: State, record: Center['recordWith']) => OpenedPlatform

/** One entry per value of `PLATFORM`. Each adapter is a folder here, like `simulator/`. */
const PLATFORMS: Readonly<Record<ApiConfig['PLATFORM'], OpenPlatform>> = {
  simulator: openSimulatorPlatform,
  asterisk: openAsteriskPlatform,
}

export const openPlatform: OpenPlatform = (base, state, record) => PLATFORMS[base.config.PLATFORM](base, state, record)
