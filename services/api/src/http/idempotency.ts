import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, toProblem, uuidV5 } from '@switchhook/contracts'
import { backoffMs, type Logger, type Metrics } from '@switchhook/runtime'
import type { Vault } from '@switchhook/signing'
import { createIdempotencyStore, type IdempotencyStore, type IdempotencyTimes, type Redis } from '@switchhook/store'
import { HeaderedError, retryAfter } from './headered-error.ts'
import type { Answer, Route, RouteRequest, RouteSpec } from './route.ts'

export interface IdempotencyTiming extends IdempotencyTimes {
  /** How long a request waits while an identical earlier request is in progress. */
  readonly waitMs: number
}

export const IDEMPOTENCY_TIMING: IdempotencyTiming = {
  // Longer than any handler: each of its steps is bounded by a few seconds.
  leaseMs: 30_000,
  retentionMs: 24 * 60 * 60_000,
  // Well below the timeout of any client.
  waitMs: 5_000,
}

/** With the caller and the body, this identifies a repeated request. */
interface KeyedTarget {
  readonly key: string
  readonly method: string
  /** The requested path without the query. */
  readonly path: string
  readonly reread?: Route['reread']
}

/** Runs a request with a key, or replays its stored answer. */
export type AnswerOnce = (
  target: KeyedTarget,
  request: RouteRequest,
  handle: (request: RouteRequest) => Promise<Answer>,
) => Promise<Answer>

/**
 * The stored answer, without its large fields and with its confidential ones sealed. A refusal is stored as the thrown
 * error, so that its replay has the id of the repeated request.
 */
type Kept =
  | { readonly answer: Omit<Answer, 'confidential' | 'large' | 'answered'>; readonly sealed?: string }
  | { readonly refusal: Pick<HeaderedError, 'code' | 'extra' | 'headers'> }

const KEY = /^[\x20-\x7e]{1,255}$/
const REPLAYED = { 'Idempotent-Replayed': 'true' }
const FIRST_POLL_MS = 50
const LAST_POLL_MS = 500
const RETRY_AFTER_SECONDS = 5
/** Bodies are a few levels deep. The limit protects the stack from a hostile body. */
const MAX_DEPTH = 64

/** @throws AppError `invalid-request` for an invalid key, and for any key if the route cannot honour it */
export function idempotencyKeyOf(
  { method, idempotent }: Pick<RouteSpec, 'method' | 'idempotent'>,
  header: string | undefined,
): string | undefined {
  if (header === undefined || method === 'get') return undefined
  if (idempotent !== true) {
    const detail = 'This operation does not take an Idempotency-Key, because each request runs again. Omit the header.'
    throw new AppError('invalid-request', { detail })
  }
  if (KEY.test(header)) return header
  throw new AppError('invalid-request', { detail: 'Idempotency-Key must be 1 to 255 printable ASCII characters.' })
}

/**
 * The same caller, method, path, key and body get one answer. An answer below 500 is stored, except about a state that can
 * change (409, 412, 429); any other error releases the key. If the process dies before the answer is stored, the request
 * runs again after the lease, with the same ids from `idFor`.
 */
export function createAnswerOnce(
  store: IdempotencyStore,
  waitMs: IdempotencyTiming['waitMs'],
  vault: Vault,
  log: Pick<Logger, 'warn'>,
): AnswerOnce {
  /** Waits while an identical earlier request is in progress. */
  async function begin(...request: Parameters<IdempotencyStore['begin']>) {
    const deadline = performance.now() + waitMs
    for (let polls = 0; ; polls++) {
      const begun = await store.begin(...request)
      if (begun.kind !== 'busy') return begun
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw retryAfter('idempotency-key-in-use', RETRY_AFTER_SECONDS)
      await delay(Math.min(backoffMs(polls, FIRST_POLL_MS, LAST_POLL_MS), leftMs))
    }
  }

  return async ({ key, method, path, reread }, request, handle) => {
    const { tenant, issuer = null, clientId, subject = null } = request.caller
    // With the person: an answer can hold a secret.
    const scope = sha256(JSON.stringify([tenant, issuer, clientId, subject, method, path, key]))
    const client = sha256(JSON.stringify([tenant, issuer, clientId]))
    const ofTenant = sha256(JSON.stringify(['tenant', tenant]))
    const begun = await begin(scope, sha256(canonical(contentOf(request), MAX_DEPTH)), client, ofTenant)
    if (begun.kind === 'mismatch') throw new AppError('idempotency-key-reused')
    if (begun.kind === 'replay') {
      const answer = replay(begun.answer as Kept, (sealed) => vault.open(sealed, sealedFor(scope)))
      return reread === undefined ? answer : { ...answer, large: await reread(request.caller, answer.body) }
    }

    const { claim } = begun
    /** The handler has run, so the client gets its answer even if the answer cannot be stored. */
    const keep = async (kept: Kept, answered?: Answer['answered']): Promise<void> => {
      try {
        if (await store.finish(claim, kept)) await answered?.()
      } catch (error) {
        log.warn('the answer to an Idempotency-Key could not be stored', { requestId: request.requestId, error })
      }
    }
    try {
      const answer = await handle({ ...request, idFor: (name) => uuidV5(claim.seed, name), isRerun: claim.isRerun })
      const { confidential, large: _, answered, ...open } = answer
      const sealed = confidential && vault.seal(JSON.stringify(confidential), sealedFor(scope))
      await keep({ answer: open, ...(sealed !== undefined && { sealed }) }, answered)
      return answer
    } catch (error) {
      const refusal = lastingRefusalOf(error)
      if (refusal === undefined) await store.release(claim)
      else await keep({ refusal })
      throw error
    }
  }
}

/** Opens the store of answers and counts the keys that are forgotten early. */
export function openIdempotency(
  deps: {
    readonly config: Readonly<Record<'IDEMPOTENCY_LIMIT_PER_CLIENT' | 'IDEMPOTENCY_LIMIT_PER_TENANT', number>>
    readonly metrics: Pick<Metrics, 'counter'>
    readonly redis: Redis
    readonly vault: Vault
    readonly log: Pick<Logger, 'warn'>
  },
  timing: Partial<IdempotencyTiming> = {},
): AnswerOnce {
  const times = { ...IDEMPOTENCY_TIMING, ...timing }
  const forgotten = deps.metrics
    .counter(
      'switchhook_idempotency_keys_forgotten_total',
      'Idempotency keys that were forgotten early, because their client or tenant exceeded its limit.',
    )
    .of({})
  const store = createIdempotencyStore(deps.redis, times, {
    requestsPerClient: deps.config.IDEMPOTENCY_LIMIT_PER_CLIENT,
    requestsPerTenant: deps.config.IDEMPOTENCY_LIMIT_PER_TENANT,
    forgotten: (count) => forgotten.add(count),
  })
  return createAnswerOnce(store, times.waitMs, deps.vault, deps.log)
}

function replay(kept: Kept, open: (sealed: string) => string): Answer {
  if ('answer' in kept) {
    const { answer, sealed } = kept
    const confidential = sealed === undefined ? undefined : (JSON.parse(open(sealed)) as Answer['confidential'])
    return { ...answer, headers: { ...answer.headers, ...REPLAYED }, ...(confidential && { confidential }) }
  }
  const { code, extra, headers } = kept.refusal
  throw new HeaderedError(code, { ...headers, ...REPLAYED }, extra)
}

/** What must be equal in each repeat of a request. A body is an object, so the two kinds never equal each other. */
const contentOf = ({ body = null, ifMatch }: RouteRequest): unknown => (ifMatch === undefined ? body : [body, ifMatch])

const sealedFor = (scope: string): readonly string[] => ['idempotent-answer', scope]

/** After one of these the same request can succeed later, so its key must not answer with the refusal for a day. */
const PASSING: ReadonlySet<number> = new Set([409, 412, 429])

function lastingRefusalOf(error: unknown): Pick<HeaderedError, 'code' | 'extra' | 'headers'> | undefined {
  if (!(error instanceof AppError)) return undefined
  const { status } = toProblem(error, '')
  if (status >= 500 || PASSING.has(status)) return undefined
  return { code: error.code, extra: error.extra, headers: error instanceof HeaderedError ? error.headers : {} }
}

const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** Equal JSON values have equal texts, whatever their white space and order of fields. */
function canonical(value: unknown, levels: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (levels === 0) throw new AppError('invalid-request', { detail: 'The body is nested too deeply.' })
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, levels - 1)).join(',')}]`
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value, levels - 1)}`).join(',')}}`
}
