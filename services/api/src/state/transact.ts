import { setImmediate as endOfIteration } from 'node:timers/promises'
import { newEventId, type PlatformEvent, type Tenant, Unavailable } from '@switchhook/contracts'
import type { StateChange, StateRecord, StateStore } from '@switchhook/store'

/** An event before its commit: the commit draws its id. */
export type NewEvent = Omit<PlatformEvent, 'eventId'>

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

export type Transact = ReturnType<typeof createTransact>

/** An own record of the caller has another version than expected. Nothing was written. */
export class RecordChanged extends Error {
  override readonly name = 'RecordChanged'
}

/**
 * @param committed is called after every commit
 * @param traceOfRequest returns the trace context of the current request; undefined outside a request
 */
export function createTransact(
  store: StateStore,
  committed: (writing: Writing) => void = () => {},
  traceOfRequest: () => string | undefined = () => undefined,
) {
  const read = (tenant: Tenant, keys: readonly string[]) =>
    store.read(tenant, keys).catch((cause: unknown) => {
      if (!(cause instanceof Unavailable)) throw cause
      throw new Unavailable(cause.dependency, cause.message, { cause, fate: 'not-executed' })
    })

  /**
   * Reads records, passes them to `decide`, and commits the step that it returns, all or nothing: state, events and timers.
   * If another process has changed one of the records meanwhile, reads them and calls `decide` again.
   *
   * Rejects with Unavailable if Redis does not answer the commit; the step may have been committed. Repeating it is safe if
   * `decide` returns no event for a fact that the records already hold, because the repeat reads them first. If Redis does
   * not answer a read, the error's `fate` is `not-executed`.
   * @param own records that the caller has read itself; they are committed with the step
   * @param known if it has all keys, the first try reads nothing; an outdated record makes the commit conflict
   * @throws RecordChanged for one of `own`
   */
  return async <Result>(
    tenant: Tenant,
    keys: readonly string[],
    decide: (values: readonly unknown[]) => Step<Result> | Promise<Step<Result>>,
    own: StateChange['records'] = [],
    known: ReadonlyMap<string, StateRecord> = new Map(),
  ): Promise<Result> => {
    for (let tries = 0; ; tries++) {
      // The first commit checks the versions of the caller's own records. A conflict does not say which record it is about.
      const found =
        tries === 0 && keys.every((key) => known.has(key))
          ? keys.map((key) => known.get(key))
          : await read(tenant, tries === 0 ? keys : [...keys, ...own.map(({ key }) => key)])
      const hasChanged = own.some(
        ({ expectedVersion }, at) => expectedVersion !== (found[keys.length + at]?.version ?? 0),
      )
      if (tries > 0 && hasChanged) throw new RecordChanged()
      const { result, writing } = await decide(found.slice(0, keys.length).map((record) => record?.value))
      if (writing === undefined) return result
      const versions = new Map(keys.map((key, at) => [key, found[at]?.version ?? 0]))
      const changed = writing.records.map((record) => ({ ...record, expectedVersion: versions.get(record.key) ?? 0 }))
      const traceparent = traceOfRequest() ?? writing.traceparent
      // Each try draws new event ids. At most one try commits, because each expects the versions that it has read.
      const events = (writing.events ?? []).map((event) => ({
        ...event,
        eventId: newEventId(),
        ...(traceparent !== undefined && { traceparent }),
      }))
      const { timers = [] } = writing
      if ((await store.commit(tenant, { records: [...own, ...changed], events, timers })) === 'committed') {
        committed(writing)
        // The relay publishes at the end of this iteration. Subscribers wait for that; making the answer takes longer.
        if (events.length > 0) await endOfIteration()
        return result
      }
    }
  }
}
