/** What a record of the simulator's memory holds; version 0: there is none. */
export interface Remembered {
  readonly version: number
  readonly value: unknown
}

/** What is written in one step. */
export interface MemoryChange {
  readonly records: readonly {
    readonly key: string
    /** 0: there must be none. */
    readonly expectedVersion: number
    readonly value: unknown
    /** Forgotten after so long. */
    readonly ttlMs: number
  }[]
  /** An id that is already set is set anew. They fall due even if this process dies: `Simulator.due`. */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/**
 * What the simulator knows lies outside of the process, so calls go on after a restart, and any number of replicas play
 * them together.
 */
export interface SimulatorMemory {
  /** In the order of the keys, all of one moment. */
  read(tenant: string | null, keys: readonly string[]): Promise<readonly Remembered[]>
  /**
   * All or nothing; `conflict`, and nothing, if a record has another version by now. A write that fails may have happened,
   * unless it rejects with Unavailable whose `fate` is `not-executed`.
   */
  write(tenant: string | null, change: MemoryChange): Promise<'committed' | 'conflict'>
}
