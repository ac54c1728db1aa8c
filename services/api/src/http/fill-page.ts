import type { Answer, RouteRequest } from './route.ts'

/** A search ends here with an empty page, so that a client with a timeout makes progress. */
const MAX_SEARCH_MS = 10_000

/** Reads on while a page is empty and not the last one: generic clients take an empty page for the end of the list. */
export async function fillPage(
  request: RouteRequest,
  read: (request: RouteRequest) => Promise<Answer>,
): Promise<Answer> {
  const endMs = performance.now() + MAX_SEARCH_MS
  let answer = await read(request)
  for (let cursor = cursorAfterNone(answer.body); cursor != null; cursor = cursorAfterNone(answer.body)) {
    if (performance.now() >= endMs || request.isClosed()) break
    answer = await read({ ...request, query: { ...(request.query as object), cursor } })
  }
  return answer
}

/** The cursor of an empty page; undefined for a page with entries. A page has one list, whatever its name. */
function cursorAfterNone(body: unknown): string | null | undefined {
  const { nextCursor, ...rest } = body as { readonly nextCursor?: string | null }
  const list = Object.values(rest).find((value) => Array.isArray(value))
  return list?.length === 0 ? nextCursor : undefined
}
