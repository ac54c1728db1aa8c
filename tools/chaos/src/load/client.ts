import { setTimeout as sleep } from 'node:timers/promises'
import { DEV_TENANTS, requestToken } from '@switchhook/dev-idp'
import type { Random } from '../faults/random.ts'

const [CLIENT] = DEV_TENANTS
export const TENANT = CLIENT.tenant

/** An answer. Status 0 means that none arrived, so the request may or may not have been carried out. */
export interface Reply {
  /** In ms since 1970. */
  readonly sentAtMs: number
  readonly status: number
  readonly body: Record<string, unknown>
}

/** `request` is its method and path; `atMs`: when it came, in ms since 1970. */
export interface UnusualAnswer {
  readonly status: number
  readonly request: string
  readonly atMs: number
}

export type Client = Awaited<ReturnType<typeof openClient>>

/**
 * 0: a replica was killed. 409: the customer hung up first. 429: explanations that this client gave up are still being made.
 * 503: RabbitMQ or Redis is unavailable.
 */
const USUAL: readonly number[] = [0, 200, 201, 202, 204, 409, 429, 503]
const TRY_AGAIN: readonly number[] = [0, 429, 503]

/** False while no answer or a 503 came, or a 409 because an earlier try still holds its `Idempotency-Key`. */
const isOver = ({ status, body }: Reply): boolean =>
  !TRY_AGAIN.includes(status) && body['code'] !== 'idempotency-key-in-use'

const PATIENCE_MS = 10_000
const REPEAT_MS = 250
/** Longer than any fault makes the api unavailable. */
const INSISTS_FOR_MS = 90_000
/** A token is valid for an hour, and a long run takes longer. */
const TOKEN_MS = 30 * 60_000
/** Of unusual answers. */
const MAX_SHOWN = 10

/** A client application that sends each request to a random api replica. */
export async function openClient(apis: () => readonly string[], devIdp: string, random: Random) {
  let token = await requestToken(devIdp, CLIENT)
  let tokenAtMs = Date.now()
  const answers = new Map<number, number>()
  const unusual: UnusualAnswer[] = []

  async function send(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Reply> {
    const [first = '', ...others] = apis()
    const sentAtMs = Date.now()
    try {
      if (Date.now() - tokenAtMs > TOKEN_MS) {
        token = await requestToken(devIdp, CLIENT)
        tokenAtMs = Date.now()
      }
      const response = await fetch(`${random.pick([first, ...others])}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal === undefined ? [] : [signal])]),
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { sentAtMs, status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Reply['body'] }
    } catch {
      return { sentAtMs, status: 0, body: {} }
    }
  }

  async function request(...asked: Parameters<typeof send>): Promise<Reply> {
    const reply = await send(...asked)
    answers.set(reply.status, (answers.get(reply.status) ?? 0) + 1)
    if (!USUAL.includes(reply.status)) {
      unusual.push({ status: reply.status, request: `${asked[0]} ${asked[1]}`, atMs: Date.now() })
    }
    return reply
  }

  /** Repeats a request for some time, until it is over. Resolves to the last answer. */
  async function persist(forMs: number, ...asked: Parameters<typeof send>): Promise<Reply> {
    for (const untilMs = Date.now() + forMs; ; await sleep(REPEAT_MS)) {
      const reply = await request(...asked)
      if (isOver(reply) || Date.now() > untilMs) return reply
    }
  }

  return {
    /** Number of answers by status. */
    answers,
    /** A sentence for each answer that a healthy installation does not give, unless excused; of many, the first. */
    unusual: (isExcused: (answer: UnusualAnswer) => boolean = () => false): readonly string[] => {
      const unexpected = unusual.filter((answer) => !isExcused(answer))
      const shown = unexpected
        .slice(0, MAX_SHOWN)
        .map(({ status, request, atMs }) => `${request} was answered ${status} (${new Date(atMs).toISOString()})`)
      const more = unexpected.length - shown.length
      return more > 0 ? [...shown, `${more} more unexpected answers`] : shown
    },
    request,
    persist,
    /** @throws if the request is not answered in `INSISTS_FOR_MS` */
    insist: async (...asked: Parameters<typeof send>): Promise<Reply> => {
      const reply = await persist(INSISTS_FOR_MS, ...asked)
      if (isOver(reply)) return reply
      throw new Error(`${asked[0]} ${asked[1]} was still answered ${reply.status} after ${INSISTS_FOR_MS / 1_000} s`)
    },
  }
}
