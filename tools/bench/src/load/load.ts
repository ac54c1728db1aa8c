/** One round of a client: requests one after the other, each with its latency noted. */
export type Round = (note: Note) => Promise<void>
type Note = (ms: number) => void

/** Result of a load. */
export interface Load {
  /** Requests in all, warm-up included: what the processor time was spent on. */
  readonly allRequests: number
  /** Requests during the measurement. */
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
}

/** Closed loop: every client repeats its round without think time, each waiting for its answer. */
export async function applyLoad(
  rounds: readonly Round[],
  options: { warmUpMs: number; measureMs: number },
): Promise<Load> {
  const latenciesMs: number[] = []
  const from = performance.now() + options.warmUpMs
  const to = from + options.measureMs
  let allRequests = 0
  const note: Note = (ms) => {
    allRequests += 1
    const now = performance.now()
    if (now >= from && now <= to) latenciesMs.push(ms)
  }
  await Promise.all(
    rounds.map(async (round) => {
      while (performance.now() < to) await round(note)
    }),
  )
  return { allRequests, perSecond: (latenciesMs.length * 1_000) / options.measureMs, latenciesMs }
}

export async function timed<T>(note: Note, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  note(performance.now() - startedAt)
  return result
}
