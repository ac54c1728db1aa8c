import type { CallId } from '@switchhook/contracts'
import type { LinkState, Platform, Simulator } from '@switchhook/platform'
import type { Base } from '../../base.ts'
import type { ApiConfig } from '../../config.ts'
import type { State } from '../../state/state.ts'
import type { TimerOwners } from '../../state/timer-loop.ts'
import type { Center } from '../center/center.ts'
import { openAsteriskPlatform } from './asterisk/open-asterisk.ts'
import { openSimulatorPlatform } from './simulator/open-simulator.ts'

/** A platform adapter together with the parts that only this adapter has. */
export interface OpenedPlatform {
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
type OpenPlatform = (base: Base, state: State, record: Center['recordWith']) => OpenedPlatform

/** One entry per value of `PLATFORM`. Each adapter is a folder here, like `simulator/`. */
const PLATFORMS: Readonly<Record<NonNullable<ApiConfig['PLATFORM']>, OpenPlatform>> = {
  simulator: openSimulatorPlatform,
  asterisk: openAsteriskPlatform,
}

export const openPlatform: OpenPlatform = (base, state, record) =>
  PLATFORMS[base.config.PLATFORM ?? 'simulator'](base, state, record)
