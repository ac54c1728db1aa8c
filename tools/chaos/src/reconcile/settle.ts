import { setTimeout as sleep } from 'node:timers/promises'
import type { Observation } from './observation.ts'
import { FINAL } from './problem.ts'
import { type Reconciliation, reconcile } from './reconcile.ts'

/** Several times the schedule plus the time of a recovery. If nothing more is settled in this time, nothing will be. */
const SETTLES_WITHIN_MS = 180_000
const SETTLE_CHECK_MS = 1_000

/** Reconciles until no problem is left that waiting could resolve, or waiting resolves none: a busy machine only takes longer. */
export async function settle(observe: () => Promise<Observation>): Promise<Reconciliation> {
  const drainsUntil = Date.now() + SETTLES_WITHIN_MS
  let fewest = Number.POSITIVE_INFINITY
  let deadline = 0
  for (;;) {
    // The broker refreshes its message counts once a second.
    await sleep(SETTLE_CHECK_MS)
    const observation = await observe()
    // Reconciling half a million POSTs takes long, and this process carries the connections of the services meanwhile.
    if (isDraining(observation) && Date.now() < drainsUntil) continue
    const reconciliation = reconcile(observation)
    const open = reconciliation.problems.filter(({ kind }) => !FINAL.some((final) => final === kind)).length
    if (open < fewest) {
      fewest = open
      deadline = Date.now() + SETTLES_WITHIN_MS
    }
    if (open === 0 || Date.now() >= deadline) return reconciliation
  }
}

const isDraining = ({ left, notReady }: Observation): boolean =>
  notReady.length > 0 || Object.values(left).some((messages) => messages > 0)
