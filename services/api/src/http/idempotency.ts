import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, toProblem, uuidV5 } from '@switchhook/contracts'
import { backoffMs, type Logger } from '@switchhook/runtime'
import type { Vault } from '@switchhook/signing'
import type { IdempotencyBegun, IdempotencyStore, IdempotencyTimes } from '@switchhook/store'
import { HeaderedError } from './problem-handler.ts'
import type { Answer, RouteRequest } from './route.ts'

export interface IdempotencyTiming extends IdempotencyTimes {
  /** How long a request waits for the answer to the same request that came before it. */
  readonly waitMs: number
}

export const IDEMPOTENCY_TIMING: IdempotencyTiming = {
  // Longer than any handler takes: each of its steps is bounded by a few seconds.
  leaseMs: 30_000,
  retentionMs: 24 * 60 * 60_000,
  // Well within every client's timeout.
  waitMs: 5_000,
}

/** What makes a request the same one when it comes again, beside its caller and its body. */
interface KeyedTarget {
  readonly key: string
  readonly method: string
  /** As it was asked for, without the query. */
  readonly path: string
}

/** Carries out a request that has a key, or answers what it was answered before. */
export type AnswerOnce = (
  target: KeyedTarget,
  request: RouteRequest,
  handle: (request: RouteRequest) => Promise<Answer>,
) => Promise<Answer>

/**
 * What is stored. A refusal is kept as what was thrown, so that its replay names the request that it answers. What is
 * confidential in an answer is sealed; whoever knows nothing of that replays the rest.
 */
type Kept =
  | { readonly answer: Omit<Answer, 'confidential'>; readonly sealed?: string }
  | { readonly refusal: Pick<HeaderedError, 'code' | 'extra' | 'headers'> }

const KEY = /^[\x20-\x7e]{1,255}$/
const REPLAYED = { 'Idempotent-Replayed': 'true' }
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = 500
const RETRY_AFTER_SECONDS = '5'
/** Bodies are a few levels deep; a hostile one must not exhaust the stack. */
const MAX_DEPTH = 64

/** @throws AppError `invalid-request` for a key that is none */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined || KEY.test(header)) return header
  throw new AppError('invalid-request', { detail: 'Idempotency-Key must be 1 to 255 printable ASCII characters' })
}

/**
 * The same caller, method, path, key and body get one answer. Whatever is below 500 is kept; anything else gives the
 * key back, so that trying again works. If the process dies before the answer is kept, the request is carried out again
 * when the lease is over, with the same ids from `idFor`.
 */
export function createAnswerOnce(
  store: IdempotencyStore,
  waitMs: IdempotencyTiming['waitMs'],
  vault: Vault,
  log: Pick<Logger, 'warn'>,
): AnswerOnce {
  /** Waits for its turn or for the answer, whichever comes first. */
  async function begin(
    scope: string,
    fingerprint: string,
    client: string,
  ): Promise<Exclude<IdempotencyBegun, { kind: 'busy' }>> {
    const deadline = performance.now() + waitMs
    for (let looks = 0; ; looks++) {
      const begun = await store.begin(scope, fingerprint, client)
      if (begun.kind !== 'busy') return begun
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw new HeaderedError('idempotency-key-in-use', { 'Retry-After': RETRY_AFTER_SECONDS })
      await delay(Math.min(backoffMs(looks, FIRST_LOOK_MS, LAST_LOOK_MS), leftMs))
    }
  }

  return async ({ key, method, path }, request, handle) => {
    const { tenant, issuer = null, clientId } = request.caller
    const scope = hash(JSON.stringify([tenant, issuer, clientId, method, path, key]))
    const client = hash(JSON.stringify([tenant, issuer, clientId]))
    const begun = await begin(scope, hash(canonical(request.body ?? null, MAX_DEPTH)), client)
    if (begun.kind === 'mismatch') throw new AppError('idempotency-key-reused')
    if (begun.kind === 'replay') return replay(begun.answer as Kept, (sealed) => vault.open(sealed, sealedFor(scope)))

    const { claim } = begun
    /** What was done is done: the client hears of it even if it cannot be kept. */
    const keep = async (kept: Kept): Promise<void> => {
      await store.finish(claim, kept).catch((error: unknown) => {
        log.warn('the answer to an Idempotency-Key could not be kept', { requestId: request.requestId, error })
      })
    }
    try {
      const answer = await handle({ ...request, idFor: (name) => uuidV5(claim.seed, name) })
      const { confidential, ...open } = answer
      const sealed = confidential && vault.seal(JSON.stringify(confidential), sealedFor(scope))
      await keep({ answer: open, ...(sealed !== undefined && { sealed }) })
      return answer
    } catch (error) {
      if (isRefusal(error)) await keep({ refusal: refusalOf(error) })
      // If this fails too, the end of the lease does the same.
      else await store.release(claim).catch(() => {})
      throw error
    }
  }
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

const sealedFor = (scope: string): readonly string[] => ['idempotent-answer', scope]

const isRefusal = (error: unknown): error is AppError => error instanceof AppError && toProblem(error, '').status < 500

function refusalOf(error: AppError): Pick<HeaderedError, 'code' | 'extra' | 'headers'> {
  return { code: error.code, extra: error.extra, headers: error instanceof HeaderedError ? error.headers : {} }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** One text for one JSON value: neither white space nor the order of members makes another body. */
function canonical(value: unknown, levels: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (levels === 0) throw new AppError('invalid-request', { detail: 'The body is nested too deeply' })
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, levels - 1)).join(',')}]`
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, levels - 1)}`).join(',')}}`
}
