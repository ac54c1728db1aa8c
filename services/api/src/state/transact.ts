import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'

/** An event before its commit: the commit draws its id. */
export type NewEvent = Omit<PlatformEvent, 'eventId'>

/** The writes of one step. */
export interface Writing {
  /** The step has read each of these keys. */
  readonly records: readonly { readonly key: string; readonly value: unknown; readonly ttlMs?: number }[]
  readonly events?: readonly NewEvent[]
  /** Trace context of the events outside a request. */
  readonly traceparent?: string | undefined
  readonly timers?: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/** The result of a step and its writes. A step without writes commits nothing. */
export interface Step<Result> {
  readonly result: Result
  readonly writing?: Writing
}

/**
 * Reads records, passes them to `decide`, and commits the step that it returns, all or nothing: state, events and timers.
 * If another process has changed one of the records meanwhile, reads them and calls `decide` again.
 *
 * Rejects with Unavailable if Redis does not answer the commit; the step may have been committed. Repeating it is safe if
 * `decide` returns no event for a fact that the records already hold, because the repeat reads them first.
 */
export type Transact = <Result>(
  tenant: string | null,
  keys: readonly string[],
  decide: (values: readonly unknown[]) => Step<Result> | Promise<Step<Result>>,
) => Promise<Result>

/**
 * @param committed is called after every commit
 * @param traceOfRequest returns the trace context of the current request; undefined outside a request
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
      // Each try draws new event ids. At most one try commits, because each expects the versions that it has read.
      const events = (writing.events ?? []).map((event) => ({
        ...event,
        eventId: newEventId(),
        ...(traceparent !== undefined && { traceparent }),
      }))
      const { timers = [] } = writing
      if ((await store.commit(tenant, { records, events, timers })) === 'committed') {
        committed(writing)
        return result
      }
    }
  }
}
