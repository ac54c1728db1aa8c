import { type Absence, isNotice, type Notice, type Observation } from './observation.ts'
import type { Problem } from './reconcile.ts'

/** Undisturbed, an endpoint that is away has failed often enough within a second; a worker that died may still hold its probe. */
export const LONG_MS = 6_000
/** The clock of Redis says when an outage began, another one when the endpoint left. */
const CLOCKS_MS = 500

/** Names a notice by its type and its subject: a notice that is repeated is the same event. */
export function nameOfNotice(notice: Notice): string {
  const { kind, subscriptionId } = notice
  if (kind === 'parked') return parkedName(notice)
  return `notice webhook.endpoint.${kind} ${subscriptionId} ${notice.since}`
}

const parkedName = ({ deliveryId, run }: { readonly deliveryId: string; readonly run: number }): string =>
  `notice webhook.delivery.parked ${deliveryId} ${run}`

const isOps = ({ eventTypes }: Observation['endpoints'][number]): boolean =>
  eventTypes.every((eventType) => eventType.startsWith('webhook.'))

const noticesOf = ({ posts }: Observation): readonly Notice[] => posts.map(({ told }) => told).filter(isNotice)

/**
 * Notices that each ops subscription has to get: those that any ops subscription got; one for each run of a delivery that ended parked;
 * and `failing` for each outage that a `recovered` notice names. `recovered` notices are not promised.
 */
export function expectedNotices(observation: Observation): readonly string[] {
  const { endpoints, parked, recoveries } = observation
  const ops = new Set(endpoints.filter(isOps).map(({ name }) => name))
  if (ops.size === 0) return []
  const notices = noticesOf(observation)
  return [
    ...notices.map(nameOfNotice),
    ...notices.flatMap((notice) => (notice.kind === 'recovered' ? nameOfNotice({ ...notice, kind: 'failing' }) : [])),
    ...parked.filter(({ endpoint }) => !ops.has(endpoint)).map(parkedName),
    ...recoveries.flatMap(({ deliveries }) =>
      deliveries.map(({ deliveryId, parkedRun }) => parkedName({ deliveryId, run: parkedRun })),
    ),
  ]
}

/** Counts each notice once, however often and at however many endpoints it arrived. */
export function countNotices(observation: Observation): Readonly<Record<Notice['kind'], number>> {
  const told = new Map(noticesOf(observation).map((notice) => [nameOfNotice(notice), notice.kind]))
  const count = (kind: Notice['kind']): number => [...told.values()].filter((one) => one === kind).length
  return { parked: count('parked'), failing: count('failing'), recovered: count('recovered') }
}

/**
 * Checks the notices, except that none is missing: no notice is about a notice, none is about a delivery that could not be parked, and an
 * endpoint that was away for long has been reported.
 * @param mayPark whether the receiver has rejected this delivery, or was away for a whole schedule
 */
export function judgeNotices(
  observation: Observation,
  mayPark: (notice: Extract<Notice, { readonly kind: 'parked' }>) => boolean,
): Problem[] {
  const { endpoints, absences, disturbances } = observation
  const notices = noticesOf(observation)
  const ops = new Set(endpoints.filter(isOps).map(({ subscriptionId }) => subscriptionId))
  if (ops.size === 0) return []
  const told = new Map(notices.map((notice) => [nameOfNotice(notice), notice]))
  const problems: Problem[] = []
  for (const [name, notice] of told) {
    const isOfNotice =
      ops.has(notice.subscriptionId) || (notice.kind === 'parked' && notice.ofType.startsWith('webhook.'))
    if (isOfNotice) problems.push({ kind: 'notice of a notice', what: name })
    else if (notice.kind === 'parked' && !mayPark(notice)) {
      problems.push({ kind: 'told as parked, never rejected', what: name })
    }
  }
  for (const absence of absences.filter((one) => quietMs(one, disturbances) >= LONG_MS)) {
    if (isTold(observation, absence)) continue
    const { endpoint, fromMs, toMs } = absence
    const what = `${endpoint}, away for ${toMs - fromMs} ms from ${new Date(fromMs).toISOString()}`
    problems.push({ kind: 'failing, and not told', what })
  }
  return problems
}

/** The longest part of an absence that no fault, and no recovery from one, overlaps. */
function quietMs({ fromMs, toMs }: Absence, disturbances: Observation['disturbances']): number {
  let longest = 0
  let quietSinceMs = fromMs
  for (const disturbance of disturbances.toSorted((a, b) => a.fromMs - b.fromMs)) {
    longest = Math.max(longest, Math.min(disturbance.fromMs, toMs) - quietSinceMs)
    quietSinceMs = Math.max(quietSinceMs, disturbance.toMs)
  }
  return Math.max(longest, toMs - quietSinceMs)
}

/** Whether a notice names an outage that began in the absence, or one that began before it and had not ended. */
function isTold({ endpoints, posts }: Observation, { endpoint, fromMs, toMs }: Absence): boolean {
  const subscriptionId = endpoints.find(({ name }) => name === endpoint)?.subscriptionId
  const sincesMs = posts.flatMap(({ told }) =>
    told.kind === 'failing' && told.subscriptionId === subscriptionId ? Date.parse(told.since) : [],
  )
  return sincesMs.some((sinceMs) => {
    if (sinceMs > toMs + CLOCKS_MS) return false
    if (sinceMs >= fromMs - CLOCKS_MS) return true
    return !posts.some(
      ({ endpoint: at, atMs, status }) =>
        at === endpoint && atMs >= sinceMs && atMs <= toMs && status !== null && status < 300,
    )
  })
}
