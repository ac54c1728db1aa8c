import type { PlatformEvent } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'

/** What one step writes. */
export interface Writing {
  /** Each was read in this step. */
  readonly records: readonly { readonly key: string; readonly value: unknown; readonly ttlMs?: number }[]
  readonly events?: readonly PlatformEvent[]
  /** What the events belong to, where no request is being handled. */
  readonly traceparent?: string | undefined
  readonly timers?: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/** What a step answers, and what it writes, if anything. */
export interface Step<Result> {
  readonly result: Result
  readonly writing?: Writing
}

/**
 * Reads records, lets `decide` make a step of them, and writes it, all or nothing: state, events and timers. Whenever
 * somebody else was faster with one of the records, it is read and decided anew, so `decide` may run more than once.
 */
export type Transact = <Result>(
  tenant: string | null,
  keys: readonly string[],
  decide: (values: readonly unknown[]) => Step<Result> | Promise<Step<Result>>,
) => Promise<Result>

/**
 * @param committed is told of every step that has written events or timers
 * @param traceOfRequest of the request that is being handled, if one is
 */
export function createTransact(
  store: StateStore,
  committed: (writing: Writing) => void,
  traceOfRequest: () => string | undefined = () => undefined,
): Transact {
  return async (tenant, keys, decide) => {
    for (;;) {
      const read = await store.read(tenant, keys)
      const { result, writing } = await decide(read.map((record) => record?.value))
      if (writing === undefined) return result
      const versions = new Map(keys.map((key, at) => [key, read[at]?.version ?? 0]))
      const records = writing.records.map((record) => ({ ...record, expectedVersion: versions.get(record.key) ?? 0 }))
      const traceparent = traceOfRequest() ?? writing.traceparent
      const events = (writing.events ?? []).map((event) =>
        traceparent === undefined ? event : { ...event, traceparent },
      )
      const { timers = [] } = writing
      if ((await store.commit(tenant, { records, events, timers })) === 'committed') {
        committed(writing)
        return result
      }
    }
  }
}
