import type { Broker } from '@switchhook/messaging'
import type { Logger, Metrics, Tracing } from '@switchhook/runtime'
import type { Vault } from '@switchhook/signing'
import type { Installation, JournalReader, Redis } from '@switchhook/store'
import type { ApiConfig } from './config.ts'
import type { Route } from './http/route.ts'
import type { AheadOfRequest } from './state/read-ahead.ts'
import type { TimerOwners } from './state/timer-loop.ts'

/** The parts that `start-api.ts` opens first and every feature can use. */
export interface Base {
  readonly config: ApiConfig
  readonly log: Logger
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly redis: Redis
  readonly broker: Broker
  readonly installation: Installation
  readonly vault: Vault
  readonly journal: JournalReader
  /** Publishes within a span; the delivery carries the trace on. */
  readonly publishDelivery: Broker['publishDelivery']
  /** The `traceparent` of the current request; undefined outside a request. */
  readonly traceOfRequest: () => string | undefined
  /** Records that the current request has read ahead; undefined outside a request. */
  readonly aheadOfRequest: () => AheadOfRequest | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A part of the api: `routes.ts` lists its routes, `start-api.ts` starts its timers and closes it at shutdown. */
export interface Feature {
  readonly routes: readonly Route[]
  readonly timers?: TimerOwners
  readonly close?: () => Promise<void>
}
