import type { Platform } from '@switchhook/platform'
import type { ApiConfig } from '../config.ts'
import type { Base } from '../feature.ts'
import type { Route } from '../http/route.ts'
import type { State } from '../state/state.ts'
import type { TimerOwners } from '../state/timer-loop.ts'
import { openSimulatorPlatform } from './simulator/open-simulator.ts'

/** A platform adapter together with the parts that only this adapter has. */
export interface OpenedPlatform {
  readonly platform: Platform
  readonly timers: TimerOwners
  /** Routes without a token that act on the platform from outside. Empty in production. */
  readonly developmentRoutes: readonly Route[]
}

/** One entry per value of `PLATFORM`. Each adapter has a folder of its own beside `simulator/`. */
const PLATFORMS: Readonly<Record<ApiConfig['PLATFORM'], (base: Base, state: State) => OpenedPlatform>> = {
  simulator: openSimulatorPlatform,
}

export const openPlatform = (base: Base, state: State): OpenedPlatform => PLATFORMS[base.config.PLATFORM](base, state)
