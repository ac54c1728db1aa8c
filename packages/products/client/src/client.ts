import type { AnswerKind } from './fetch-answer.ts'
import { OPERATIONS, type Operations } from './generated/operations.ts'
import type { CallOptions, ClientOptions, Page, Pages } from './options.ts'
import { createSend, type Send } from './send.ts'
import { follow, type StreamOptions } from './stream.ts'

/** The operations of the API, by resource. */
export type Client = Operations

/** The flags that tell the body of an answer; without one, it is an object. */
const ANSWERS: readonly AnswerKind[] = ['stream', 'page', 'array', 'nothing']

/** Default limits of a call. */
const TIMEOUT_MS = 30_000
const CALLS_TIMEOUT_MS = 10_000

/** Creates a client for one installation and one identity. @throws TypeError if `baseUrl` is no http or https address */
export function createClient(options: ClientOptions): Client {
  const send = createSend(options)
  const groups = Object.entries(OPERATIONS).map(([group, lines]) => {
    const timeoutMs = options.timeoutMs ?? (group === 'calls' ? CALLS_TIMEOUT_MS : TIMEOUT_MS)
    const methods = Object.entries(lines).map(([name, line]) => [
      name,
      methodOf(`${group}.${name}`, line, timeoutMs, send),
    ])
    return [group, Object.fromEntries(methods)]
  })
  return Object.fromEntries(groups) as Client
}

type Query = Readonly<Record<string, unknown>>

/** @param line the request line and the flags of an operation, as in `OPERATIONS` */
function methodOf(operation: string, line: string, timeoutMs: number, send: Send): (...args: unknown[]) => unknown {
  const [method = '', template = '', ...flags] = line.split(' ')
  const has = (flag: string): boolean => flags.includes(flag)
  const answer = ANSWERS.find(has) ?? 'object'

  return (...args) => {
    const path = template.replaceAll('{}', () => {
      const value = args.shift()
      // Without it, or with a step of a path, the path would be another operation's.
      if (typeof value !== 'string' || !/[^.]/.test(value)) throw new TypeError(`${operation} needs an id`)
      return encodeURIComponent(value)
    })
    const body = has('body') ? (args.shift() ?? {}) : undefined
    const query = has('query') ? ((args.shift() ?? {}) as Query) : {}
    const options = (args[0] ?? {}) as CallOptions & StreamOptions
    const request = { operation, method, takesKey: has('key'), timeoutMs, answer }
    const read = (more: Query = {}) =>
      send({ ...request, path: path + queryText({ ...query, ...more }), body }, options)

    if (answer === 'stream') {
      return follow(async (place, since, signal) => {
        const headers = place === undefined ? {} : { 'last-event-id': place }
        const at = path + queryText({ ...query, since })
        return (await send({ ...request, path: at, headers }, { signal })).response
      }, options)
    }
    if (answer === 'page' || answer === 'array') {
      return pagesOf(async (more) => {
        const { response, value } = await read(more)
        return answer === 'page'
          ? (value as Page)
          : { items: value as [], nextCursor: response.headers.get('next-cursor') }
      })
    }
    return read().then(({ value }) => value)
  }
}

function pagesOf(read: (more: Query) => Promise<Page>): Pages<Page> {
  return {
    page: () => read({}),
    async *[Symbol.asyncIterator]() {
      let more: Query | '' | null = {}
      while (more) {
        const { items, nextCursor }: Page = await read(more)
        yield* items
        more = nextCursor && { cursor: nextCursor }
      }
    },
  }
}

/** Absent values are left out. Empty ones are not: the API refuses them, and without the filter a list would have everything. */
function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text && `?${text}`
}
