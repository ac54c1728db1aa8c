import { randomUUID } from 'node:crypto'
import type { Attempt } from '@switchhook/contracts'
import { oncePerTick } from '@switchhook/runtime'
import { breakerKey, coolDownsKey, type Endpoint, listeningKey, rejectedKey, subscriptionsKey } from '../keys.ts'
import { execute, type Redis, RedisRefusal, runScript } from '../redis/redis.ts'
import type { ScriptReplies } from '../redis/scripts.ts'
import { parseSubscription } from '../subscriptions/subscription-index.ts'
import { REMOVED_BREAKER_MS } from '../subscriptions/subscription-store.ts'

/*
 * The circuit breaker: one hash per subscription, shared by all workers. All times are Redis' own.
 *
 *               Nth failure in a row,             cool-down over
 *               N of the last 2 N hung,           (nothing is written)
 *               or a Retry-After
 *               (record-failure)
 *     closed ───────────────────────────▶ open ───────────────────────▶ probing
 *       ▲                                   ▲                            │   │
 *       │                                   └────── the probe fails ─────┘   │
 *       │                                           (record-failure)         │
 *       └──── an endpoint answers (record-answer) ───────────────────────────┘
 *
 * Probing: one worker at a time may send one POST, the probe, under a lease (claim-probe). A failure that does not
 * belong to the probe changes nothing while the breaker is open or probing.
 *
 * field        written by               content
 * failures     record-failure           failures in a row
 * recent       record-failure, -answer  the last 2 N results since one hung, oldest first: `h` hung, `.` any other
 * openedAt     record-failure           start of the cool-down
 * openUntil    record-failure           end of the cool-down; absent while closed
 * probe        claim-probe              the probe's claim; a new cool-down removes it, and so does give-up-probe
 * probedAt     claim-probe              start of the probe's lease
 * probeUntil   claim-probe              end of the probe's lease; then another worker may claim it
 * paused       record-failure           present if a Retry-After alone began this cool-down
 * opening      record-failure, once     the cool-down at the Nth failure: start, failures, end, last result
 * told         mark-reported            start of this outage, once its notice was published
 * recoveredAt  record-outage-end        first answer after the outage; a failed probe removes it
 *
 * `record-failure` also adds each cool-down to the endpoint's history (cool-down-history.ts).
 *
 * After a failover the clock of the new Redis can be behind. A cool-down or a lease whose start is in its future is over, so
 * neither ever lasts longer than its length from then on.
 *
 * Times are in ms since 1970. The scripts are in `lua/breaker` and `lua/redis`. `record-answer` deletes the hash except for
 * `recent`, unless a cool-down of a `Retry-After` runs. Without an answer, the hash expires one cool-down and a day after
 * the last failure; that of an outage after 30 days, of a deleted subscription after an hour. A lost hash means closed: at worst
 * an extra attempt.
 */

export type AttemptResult = Pick<Attempt, 'outcome' | 'status'>

/** `retryAfterMs`: of the endpoint, see `Outcome`. `hung`: the POST took long before it failed. */
type FailedResult = AttemptResult & { readonly retryAfterMs?: number | undefined; readonly hung?: boolean }

/** The state of the breaker: contact the endpoint normally, not at all, or with one probe. */
export interface EndpointHealth {
  readonly state: 'closed' | 'open' | 'probing'
  readonly consecutiveFailures: number
  /** End of the current or latest cool-down, in ms since 1970. Null while closed. */
  readonly openUntilMs: number | null
  /** How many of the last results are failures that hung. */
  readonly recentHangs: number
}

/** Failures further apart than this do not count as in a row. */
const REMEMBERED_MS = 24 * 60 * 60_000

/** Periods of cool-downs that are kept of an endpoint (cool-down-history.ts). Redis stores that many compactly, in about 2 KB. */
export const KEPT_PERIODS = 100
/** As long as the hours of the statistics. */
const HISTORY_MS = 30 * 86_400_000

const UNKNOWN: AttemptResult = { outcome: 'network', status: null }

export type BreakerStore = ReturnType<typeof createBreakerStore>

/** @param options failures: transient ones that open the breaker, in a row or if so many of twice as many results hung */
export function createBreakerStore(redis: Redis, options: { readonly failures: number; readonly cooldownMs: number }) {
  const { failures, cooldownMs } = options
  return {
    ...createBreakerReader(redis),
    /** Undefined: another worker holds the probe. The claim lapses after `leaseMs` unless a result is recorded. */
    async claimProbe(endpoint: Endpoint, leaseMs: number): Promise<string | undefined> {
      const probe = randomUUID()
      const claimed = await runScript(redis, 'breaker/claim-probe', [breakerKey(endpoint)], [probe, leaseMs])
      return claimed === 1 ? probe : undefined
    },
    /** Gives a claim back whose POST was not made, so that the next delivery can be the probe. */
    giveUpProbe: (endpoint: Endpoint, probe: string): Promise<void> =>
      runScript(redis, 'breaker/give-up-probe', [breakerKey(endpoint)], [probe]),
    /** Counts a transient failure. Resolves to whether it starts a cool-down; one with a `Retry-After` always does. */
    async recordFailure(endpoint: Endpoint, probe: string | undefined, result: FailedResult = UNKNOWN) {
      const { tenant, subscriptionId } = endpoint
      const keys = [breakerKey(endpoint), coolDownsKey(endpoint), subscriptionsKey(tenant)]
      const breaker = [failures, cooldownMs, probe ?? '', cooldownMs + REMEMBERED_MS]
      const hung = result.hung === true ? 'h' : '.'
      const failed = [resultToText(result), KEPT_PERIODS, HISTORY_MS, result.retryAfterMs ?? 0, hung]
      const args = [...breaker, ...failed, subscriptionId, cooldownMs + REMOVED_BREAKER_MS]
      const opened = await runScript(redis, 'breaker/record-failure', keys, args)
      return opened === 1
    },
    /** Resets the count, because the endpoint works, and closes the breaker unless its cool-down comes from a `Retry-After`. */
    async recordAnswer(endpoint: Endpoint): Promise<void> {
      const { tenant, subscriptionId } = endpoint
      const retention = [cooldownMs + REMEMBERED_MS, subscriptionId, cooldownMs + REMOVED_BREAKER_MS]
      const keys = [breakerKey(endpoint), subscriptionsKey(tenant)]
      await runScript(redis, 'breaker/record-answer', keys, [2 * failures, ...retention])
    },
  }
}

type StoredEndpoint = ScriptReplies['breaker/read-endpoints'][number]

/** An endpoint, and the subscription to read with it; '' for none. */
type Question = readonly [endpoint: Endpoint, subscriptionId: string]

/** The reading half of the store, for the api. */
export function createBreakerReader(redis: Redis) {
  async function ask(questions: readonly Question[]): Promise<StoredEndpoint[]> {
    const parts = questions.map(([endpoint, asked]) => {
      const { tenant } = endpoint
      const keys = [breakerKey(endpoint), subscriptionsKey(tenant), listeningKey(tenant), rejectedKey(endpoint)]
      return { keys, args: [asked] }
    })
    const replies = await redis[execute]((commands) => commands.runParts('breaker/read-endpoints', parts))
    return replies.flat()
  }

  const askOne = async (question: Question): Promise<StoredEndpoint> => (await ask([question]))[0] as StoredEndpoint

  /** The questions of a tick share a call, except in a cluster. */
  const askTogether = oncePerTick<Question, StoredEndpoint>(async (questions) => {
    if (questions.length === 1 || !redis.mayMixTags()) return questions.map(askOne)
    return await ask(questions).catch((error: unknown) => {
      if (!(error instanceof RedisRefusal)) throw error
      // A key that holds something else must not affect the other endpoints.
      return questions.map(askOne)
    })
  })

  async function read(...question: Question) {
    const [state, consecutiveFailures, openUntil, subscription, isListened, rejected, recentHangs] =
      await askTogether(question)
    const health = {
      state,
      consecutiveFailures,
      openUntilMs: openUntil === '0' ? null : Number(openUntil),
      recentHangs,
    }
    return { health, subscription, isListened: isListened === 1, rejected }
  }

  return {
    async health(endpoint: Endpoint): Promise<EndpointHealth> {
      const { health } = await read(endpoint, '')
      return health
    },
    /**
     * Reads what a worker needs to know of an endpoint in one round trip.
     * @returns `rejected`: recorded rejections, as stored; '': none; undefined: the subscription does not recover them
     */
    async readEndpoint(endpoint: Endpoint) {
      const { health, subscription: stored, isListened, rejected } = await read(endpoint, endpoint.subscriptionId)
      const subscription = stored === '' ? undefined : parseSubscription(stored)
      return { health, isListened, subscription, rejected: subscription?.recoverRejected && rejected }
    },
  }
}

/** The stored form of a result: `answered 503`, or `timeout`. */
export const resultToText = ({ outcome, status }: AttemptResult): string =>
  status === null ? outcome : `${outcome} ${status}`

/** Parses the output of `resultToText`. Only this package writes it, so it is not validated. */
export function resultFromText(text: string): AttemptResult {
  const [outcome = '', status] = text.split(' ')
  return { outcome: outcome as Attempt['outcome'], status: status === undefined ? null : Number(status) }
}
