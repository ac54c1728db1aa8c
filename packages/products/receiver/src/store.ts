/** The place of a snapshot among those of the same call leg or agent. */
export interface Position {
  /** ISO 8601. */
  readonly occurredAt: string
  readonly sequence: number
  /** No snapshot may follow it: the leg of the call has ended. */
  readonly ended: boolean
}

export interface Advance {
  /** The snapshot is later than the last one that was applied. */
  readonly newer: boolean
  /** How many snapshots between the last one and this one were not applied. They are late, or lost. */
  readonly missed: number
}

/** Remembers handled deliveries and the latest snapshot of each subject. Handlers write their effects with `Tx`. */
export interface Store<Tx> {
  /**
   * Runs `work` and marks the delivery as done. If `work` rejects, nothing is kept, and `once` rejects with the same error.
   * @returns `already` without running `work` if the delivery is done, `busy` if another process handles it now
   */
  once(id: string, work: (tx: Tx) => Promise<void>): Promise<'done' | 'already' | 'busy'>
  /**
   * Takes the position if it is newer. The receiver asks for one delivery of a subject at a time; a store that several
   * processes share also makes the other processes wait until `work` has ended.
   */
  advance(tx: Tx, subject: string, position: Position): Promise<Advance>
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Longer than a delivery is retried or kept for a redelivery by default. */
export const KEPT_MS = 31 * DAY_MS

/** The rule of the product: the later `(occurredAt, sequence)` is the newer snapshot, and none follows the end. */
export function compare(last: Position | undefined, next: Position): Advance {
  // The first snapshot that is seen proves no gap: the subscription may be younger than the call or the agent.
  if (last === undefined) return { newer: true, missed: 0 }
  const laterMs = Date.parse(next.occurredAt) - Date.parse(last.occurredAt)
  const newer = !last.ended && (laterMs > 0 || (laterMs === 0 && next.sequence > last.sequence))
  return { newer, missed: newer ? Math.max(0, next.sequence - last.sequence - 1) : 0 }
}
