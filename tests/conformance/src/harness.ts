import type { CallId, Tenant } from '@switchhook/contracts'
import type { Platform } from '@switchhook/platform'
import type { Observer } from './observer.ts'

/** What an adapter provides to the conformance suite: its platform, and control over the telephones around it. */
export interface Harness {
  readonly platform: Platform
  /** The tenant of all three agents. */
  readonly tenant: Tenant
  readonly alice: string
  readonly bob: string
  readonly carol: string
  readonly addresses: Readonly<Record<'answers' | 'busy' | 'neverAnswers' | 'bad', string>>
  /** Resolves once the condition is true. A harness with a virtual clock moves it; it rejects after a time limit. */
  readonly until: (condition: () => boolean) => Promise<void>
  /** An outside party rings an agent. Resolves to the new call. */
  readonly ring: (agentUri: string) => Promise<CallId>
  readonly hangupRemotely: (callId: CallId) => Promise<void>
  /** The customer puts the agent on hold, or resumes. */
  readonly holdRemotely: (callId: CallId, isHeld: boolean) => Promise<void>
  readonly setDevice: (agentUri: string, online: boolean) => Promise<void>
  /** Cuts the adapter off from the platform or its storage (`true`), or connects it again. */
  readonly cutOff: (isCut: boolean) => void
  /** The adapter's process dies without `stop`, and another one takes over. Resolves once that one has started. */
  readonly restart: (observer: Observer) => Promise<Platform>
}

/** Opens a fresh platform for one test. The suite starts it with the observer's listener. */
export type OpenHarness = (observer: Observer) => Promise<Harness>
