import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'

/** An event before its commit: the commit draws its id. */
export type NewEvent = Omit<PlatformEvent, 'eventId'>

/** The writes of one step. */
export interface Writing {
  /** The step has read each of these keys. */
  readonly records: readonly { readonly key: string; readonly value: unknown; readonly ttlMs?: number }[]
  readonly events?: readonly NewEvent[]
  /** Trace context of the events if no request is being handled. */
  readonly traceparent?: string | undefined
  readonly timers?: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/** The result of a step, and its writes, if it has any. */
export interface Step<Result> {
  readonly result: Result
  readonly writing?: Writing
}

/**
 * Reads records, passes them to `decide`, and commits the step that it returns, all or nothing: state, events and timers.
 * If another process changed one of the records meanwhile, the records are read and decided again, so `decide` may run
 * more than once.
 *
 * Rejects with Unavailable if Redis does not answer the commit: the step may have been committed. To repeat it is safe if
 * `decide` returns no event for a fact that the records already hold; the repeat reads them again.
 */
export type Transact = <Result>(
  tenant: string | null,
  keys: readonly string[],
  decide: (values: readonly unknown[]) => Step<Result> | Promise<Step<Result>>,
) => Promise<Result>

/**
 * @param committed is called after every commit
 * @param traceOfRequest returns the trace context of the request that is being handled, if any
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
      // Each try draws new ids. Redis commits at most one try, because every try expects the versions that it has read.
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
