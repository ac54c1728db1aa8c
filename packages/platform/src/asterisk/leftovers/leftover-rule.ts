/** A channel of this application that belongs to no stored call. */
export interface UnknownChannel {
  readonly id: string
  /** Another channel is in the same bridge or call, or it waits on music: people probably talk, or one of them is on hold. */
  readonly isTalking: boolean
}

/** In how many rounds a channel was unknown and alone, and since when (milliseconds since 1970). */
interface Sighting {
  readonly rounds: number
  readonly sinceMs: number
}

export type Sightings = ReadonlyMap<string, Sighting>

/** A call that has just begun, or a replica with an older view, makes a channel unknown for one round at most. */
export const LEAST_ROUNDS = 3
/** An operator who restores Redis has this time before anything is removed. */
export const LEAST_MS = 3 * 60_000
/** Leftovers are rare. More unknown channels in one round mean that calls were lost in Redis. */
export const MAX_AT_ONCE = 5

interface Judgement {
  readonly sightings: Sightings
  /** The channels to remove now. */
  readonly leftovers: readonly string[]
  /** There are more leftovers than are removed together, so an operator has to decide. */
  readonly isHeldBack: boolean
}

/**
 * Decides which unknown channels are leftovers: those that stayed unknown, without another party to talk to, for several
 * rounds and some minutes. Pure.
 */
export function judgeUnknown(before: Sightings, unknown: readonly UnknownChannel[], nowMs: number): Judgement {
  const sightings = new Map<string, Sighting>()
  for (const { id } of unknown.filter(({ isTalking }) => !isTalking)) {
    const { rounds, sinceMs } = before.get(id) ?? { rounds: 0, sinceMs: nowMs }
    sightings.set(id, { rounds: rounds + 1, sinceMs })
  }
  const isOld = ({ rounds, sinceMs }: Sighting): boolean => rounds >= LEAST_ROUNDS && nowMs - sinceMs >= LEAST_MS
  const old = [...sightings].filter(([, sighting]) => isOld(sighting)).map(([id]) => id)
  const isHeldBack = old.length > MAX_AT_ONCE
  return { sightings, leftovers: isHeldBack ? [] : old, isHeldBack }
}
