/** A client's turn: makes requests one after the other, and notes how long each took. */
export type Turn = (note: (name: string, ms: number) => void) => Promise<void>

/** What came of so many clients that took turns for so long. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
}

/** Clients without think time, each waiting for its answer: the rate is what the service makes of it. */
export async function applyLoad(
  turns: readonly Turn[],
  options: { warmUpMs: number; measureMs: number },
): Promise<Load> {
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  const from = startedAt + options.warmUpMs
  const to = from + options.measureMs
  const note = (_name: string, ms: number): void => {
    const now = performance.now()
    if (now >= from && now <= to) latenciesMs.push(ms)
  }
  await Promise.all(
    turns.map(async (turn) => {
      while (performance.now() < to) await turn(note)
    }),
  )
  const { length: requests } = latenciesMs
  return { requests, perSecond: (requests * 1_000) / options.measureMs, latenciesMs }
}

export async function timed<T>(
  note: (name: string, ms: number) => void,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  note(name, performance.now() - startedAt)
  return result
}
