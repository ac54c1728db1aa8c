import { atSharedWake } from './shared-wake.ts'

/** How often the due deadlines are looked for, in ms. A deadline passes late by at most this, after a stall by twice this. */
const BEAT_MS = 50
/** A wake-up may be early by this against the previous one. */
const JITTER_MS = 2

/**
 * Limits the wait for an answer. A deadline counts only time in which the event loop runs, and passes only after a poll of
 * all sockets. After a stall, Node.js runs expired timers before it reads the answers that arrived meanwhile, so a plain
 * timer would give up on answers that are already there (ADR 0056).
 */
export type Deadline = Readonly<Pick<RunningDeadline, 'hasPassed' | 'whenPassed' | 'stop'>>

/** Counts 1 every `BEAT_MS`, and 1 for a stall of any length. */
let beats = 0
let beatAtMs = 0
let isBeating = false
/** One timer serves all, and starting and stopping costs a set entry. */
const running = new Set<RunningDeadline>()

/** A clock that a stall of the process moves on by `BEAT_MS` at most. It stands still while no deadline runs. */
export const runningMs = (): number =>
  beats * BEAT_MS + (isBeating ? Math.min(performance.now() - beatAtMs, BEAT_MS) : 0)

class RunningDeadline {
  readonly dueBeat: number
  #act: () => void
  hasPassed = false

  constructor(dueBeat: number, act: () => void) {
    this.dueBeat = dueBeat
    this.#act = act
    running.add(this)
  }

  /** Replaces the action that runs once the deadline passes. */
  whenPassed(act: () => void): void {
    this.#act = act
  }

  /** The deadline never passes from now on. */
  stop(): void {
    running.delete(this)
  }

  pass(): void {
    if (!running.delete(this)) return
    this.hasPassed = true
    this.#act()
  }
}

/** @param passed runs at most once, and not before `ms` */
export function startDeadline(ms: number, passed: () => void = () => {}): Deadline {
  const now = performance.now()
  if (!isBeating) {
    isBeating = true
    beatAtMs = now
    atSharedWake(beat)
  }
  // A stall before this call is part of the next beat, whatever its length.
  const sinceBeatMs = Math.min(now - beatAtMs, 2 * BEAT_MS)
  return new RunningDeadline(beats + Math.max(1, Math.ceil((sinceBeatMs + ms) / BEAT_MS)), passed)
}

export class NotAnswered extends Error {}

/** @throws NotAnswered with this message if the answer does not arrive within `ms`. An answer that arrives later is dropped. */
export function answerWithin<T>(ms: number, answer: Promise<T>, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(ms, () => reject(new NotAnswered(message)))
    const stop = (): void => deadline.stop()
    answer.then(stop, stop)
    answer.then(resolve, reject)
  })
}

function beat(): void {
  const now = performance.now()
  // The first wake-up after a start or a stall comes early: it is not a beat.
  if (now - beatAtMs < BEAT_MS - JITTER_MS) return atSharedWake(beat)
  beats += 1
  const due: RunningDeadline[] = []
  for (const deadline of running) if (deadline.dueBeat === beats) due.push(deadline)
  // The event loop polls the sockets between its timers and its immediates. An answer that it reads stops its deadline.
  if (due.length > 0) setImmediate(() => due.forEach((deadline) => deadline.pass()))
  if (running.size === 0) {
    isBeating = false
    return
  }
  beatAtMs += BEAT_MS
  // A little lateness is made up for by the next beat; a stall is not.
  if (now - beatAtMs > BEAT_MS) beatAtMs = now
  atSharedWake(beat)
}
