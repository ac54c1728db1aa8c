import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientCredentials, clientCredentials } from '@switchhook/client'
import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
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

export type Client = ReturnType<typeof openClient>

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
export const credentialsOf = (devIdp: string): ClientCredentials => ({
  tokenUrl: addressesOf(devIdp, TENANT).tokenUrl,
  clientId: CLIENT.clientId,
  clientSecret: CLIENT.clientSecret,
  scope: DEV_SCOPE,
})

/** A client application that sends each request to a random api replica. */
export function openClient(apis: () => readonly string[], devIdp: string, random: Random) {
  const token = clientCredentials(credentialsOf(devIdp))
  const answers = new Map<number, number>()
  const unusual: UnusualAnswer[] = []
  /** Why the last request without an answer had none. */
  let silence: unknown

  async function send(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Reply> {
    const sentAtMs = Date.now()
    try {
      const response = await fetch(`${random.pick(apis())}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await token()}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal === undefined ? [] : [signal])]),
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { sentAtMs, status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Reply['body'] }
    } catch (error) {
      silence = error
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
    /** Answers that a healthy installation does not give. */
    unusual: unusual as readonly UnusualAnswer[],
    request,
    persist,
    /** @throws if the request is not answered in `INSISTS_FOR_MS` */
    insist: async (...asked: Parameters<typeof send>): Promise<Reply> => {
      const reply = await persist(INSISTS_FOR_MS, ...asked)
      if (isOver(reply)) return reply
      throw new Error(`${asked[0]} ${asked[1]} was still answered ${reply.status} after ${INSISTS_FOR_MS / 1_000} s`, {
        cause: silence,
      })
    },
  }
}
