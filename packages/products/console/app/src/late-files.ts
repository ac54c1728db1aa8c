import { readOffer } from './session/session.ts'

const PAUSE_MS = 1_000

/**
 * Loads a part of the console that its first page does without. It fails only if the service answers and the file is gone, as after
 * an update: the router then loads the new page. While the service is away, that would lose the page that the person has.
 */
export async function loadLate<T>(load: () => Promise<T>): Promise<T> {
  for (let isThere = false; ; ) {
    try {
      return await load()
    } catch (error) {
      if (isThere) throw error
      isThere = await serviceAnswers()
    }
    await new Promise((next) => setTimeout(next, PAUSE_MS))
  }
}

const serviceAnswers = (): Promise<boolean> =>
  readOffer().then(
    () => true,
    () => false,
  )
