import { setTimeout as sleep } from 'node:timers/promises'
import { DEV_TENANTS, requestToken } from '@switchhook/dev-idp'
import type { Random } from '../faults/random.ts'

const [CLIENT] = DEV_TENANTS
export const TENANT = CLIENT.tenant

/** An answer. Status 0 means that none arrived, so the request may or may not have been carried out. */
export interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
}

export type Client = Awaited<ReturnType<typeof openClient>>

/**
 * 0: a replica was killed. 409: the customer hung up first. 429: explanations that this client gave up are still being made.
 * 503: RabbitMQ or Redis is unavailable.
 */
const USUAL: readonly number[] = [0, 200, 201, 202, 204, 409, 429, 503]
const TRY_AGAIN: readonly number[] = [0, 429, 503]

const PATIENCE_MS = 10_000
const REPEAT_MS = 250
/** Longer than any fault makes the api unavailable. */
const INSISTS_FOR_MS = 90_000
/** A token is valid for an hour, and a long run takes longer. */
const TOKEN_MS = 30 * 60_000

/** A client application that sends each request to a random api replica. */
export async function openClient(apis: () => readonly string[], devIdp: string, random: Random) {
  let token = await requestToken(devIdp, CLIENT)
  let tokenAtMs = Date.now()
  const answers = new Map<number, number>()
  const unusual: { readonly status: number; readonly request: string; readonly atMs: number }[] = []

  async function send(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Reply> {
    const [first = '', ...others] = apis()
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
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Reply['body'] }
    } catch {
      return { status: 0, body: {} }
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

  return {
    /** Number of answers by status. */
    answers,
    /** Answers that are acceptable only around a loss of Redis data, or never, and when they came, in ms since 1970. */
    unusual,
    request,
    /**
     * Repeats a request while it gets no answer, a 503, or a 409 because an earlier try still holds its `Idempotency-Key`.
     * @throws after `INSISTS_FOR_MS`
     */
    insist: async (...asked: Parameters<typeof send>): Promise<Reply> => {
      for (const untilMs = Date.now() + INSISTS_FOR_MS; ; await sleep(REPEAT_MS)) {
        const reply = await request(...asked)
        const isOver = !TRY_AGAIN.includes(reply.status) && reply.body['code'] !== 'idempotency-key-in-use'
        if (isOver) return reply
        if (Date.now() > untilMs)
          throw new Error(
            `${asked[0]} ${asked[1]} was still answered ${reply.status} after ${INSISTS_FOR_MS / 1_000} s`,
          )
      }
    },
  }
}
