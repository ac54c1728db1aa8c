import type { CallId } from '@switchhook/contracts'
import type { Platform } from '../platform.ts'
import type { Observer } from './observer.ts'

/** A platform, and a hand on the world around it. */
export interface Harness {
  readonly platform: Platform
  /** Agents of one tenant. */
  readonly tenant: string | null
  readonly alice: string
  readonly bob: string
  readonly carol: string
  readonly addresses: {
    readonly answers: string
    readonly busy: string
    readonly neverAnswers: string
    readonly bad: string
  }
  /** Lets time pass, in whatever way is quickest, until it is so. */
  readonly until: (isSo: () => boolean) => Promise<void>
  /** Somebody outside calls an agent. */
  readonly ring: (agentUri: string) => Promise<CallId>
  readonly hangupRemotely: (callId: CallId) => Promise<void>
  readonly setDevice: (agentUri: string, online: boolean) => Promise<void>
  /** The platform's memory, or the way to it, goes away and comes back. */
  readonly cutOff: (isCut: boolean) => void
  /** The process that talks to the platform dies, and another one begins. */
  readonly restart: (observer: Observer) => Promise<Platform>
}

/** Makes a new world for a test. */
export type OpenHarness = (observer: Observer) => Promise<Harness>
