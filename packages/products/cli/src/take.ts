import { countOf } from './output/read-time.ts'

const DEFAULT_LIMIT = 50

export const LIMIT = ['--limit <count>', `at most so many (default ${DEFAULT_LIMIT})`] as const

export const limitOf = ({ limit }: { readonly limit?: string }): number =>
  limit === undefined ? DEFAULT_LIMIT : countOf(limit, '--limit')

/** The first items of a list, over its pages. */
export async function take<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length === most) break
  }
  return taken
}
