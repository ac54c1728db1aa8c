import { isAcknowledgedUnsent } from './check-recovery.ts'
import { isNotice, type Notice, type Observation, type Outage, type ParkedNotice } from './observation.ts'
import type { Problem } from './problem.ts'

/**
 * An outage of this length must be reported. Without a fault the breaker opens within a second; a worker that died
 * earlier may still hold the probe for some seconds.
 */
export const REPORTED_OUTAGE_MS = 6_000
/** Redis' clock dates the outage in the notice, this process' clock the closing of the port. */
const CLOCKS_MS = 500

/** Names a notice by its type and its subject. A repeated notice is the same event. */
export function nameOfNotice(notice: Notice): string {
  const { kind, subscriptionId } = notice
  if (kind === 'parked') return parkedName(notice)
  const name = `notice webhook.endpoint.${kind} ${subscriptionId} ${notice.since}`
  return kind === 'recovered' ? `${name} ${notice.recoveredAt}` : name
}

const parkedName = ({ deliveryId, run }: { readonly deliveryId: string; readonly run: number }): string =>
  `notice webhook.delivery.parked ${deliveryId} ${run}`

const isOps = ({ eventTypes }: Observation['endpoints'][number]): boolean =>
  eventTypes.every((eventType) => eventType.startsWith('webhook.'))

const noticesOf = ({ posts }: Observation): readonly Notice[] => posts.map(({ content }) => content).filter(isNotice)

/**
 * The notices that each ops subscription must get: every notice that any ops subscription got, a parked notice for each
 * run that ended parked, and a `failing` notice for each outage that a `recovered` notice names. Switchhook does not
 * promise `recovered` notices.
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
      deliveries
        // Acknowledged before its notice was built, so there may be none.
        .filter((delivery) => !isAcknowledgedUnsent(delivery))
        .map(({ deliveryId, parkedRun }) => parkedName({ deliveryId, run: parkedRun })),
    ),
  ]
}

/** Counts each notice once, regardless of repeats and of the number of endpoints. */
export function countNotices(observation: Observation): Readonly<Record<Notice['kind'], number>> {
  const received = new Map(noticesOf(observation).map((notice) => [nameOfNotice(notice), notice.kind]))
  const count = (kind: Notice['kind']): number => [...received.values()].filter((one) => one === kind).length
  return { parked: count('parked'), failing: count('failing'), recovered: count('recovered') }
}

/**
 * Checks that no notice is about a notice, that each parked notice is about a delivery that could be parked, and that
 * each long outage was reported. `reconcile` finds missing notices.
 * @param mayPark whether the receiver rejected this delivery or was down for a whole schedule
 */
export function checkNotices(observation: Observation, mayPark: (notice: ParkedNotice) => boolean): Problem[] {
  const { endpoints, outages, disturbances } = observation
  const notices = noticesOf(observation)
  const ops = new Set(endpoints.filter(isOps).map(({ subscriptionId }) => subscriptionId))
  if (ops.size === 0) return []
  const received = new Map(notices.map((notice) => [nameOfNotice(notice), notice]))
  const problems: Problem[] = []
  for (const [name, notice] of received) {
    const isOfNotice =
      ops.has(notice.subscriptionId) || (notice.kind === 'parked' && notice.ofType.startsWith('webhook.'))
    if (isOfNotice) problems.push({ kind: 'notice of a notice', what: name })
    else if (notice.kind === 'parked' && !mayPark(notice)) {
      problems.push({ kind: 'parked notice without a rejection', what: name })
    }
  }
  for (const outage of outages.filter((one) => quietMs(one, disturbances) >= REPORTED_OUTAGE_MS)) {
    if (isReported(observation, outage)) continue
    const { endpoint, fromMs, toMs } = outage
    const what = `${endpoint}, down for ${toMs - fromMs} ms from ${new Date(fromMs).toISOString()}`
    problems.push({ kind: 'outage not reported', what })
  }
  return problems
}

/** The longest part of an outage without a fault or the recovery from one. */
function quietMs({ fromMs, toMs }: Outage, disturbances: Observation['disturbances']): number {
  let longest = 0
  let quietSinceMs = fromMs
  for (const disturbance of disturbances.toSorted((a, b) => a.fromMs - b.fromMs)) {
    longest = Math.max(longest, Math.min(disturbance.fromMs, toMs) - quietSinceMs)
    quietSinceMs = Math.max(quietSinceMs, disturbance.toMs)
  }
  return Math.max(longest, toMs - quietSinceMs)
}

/** Whether a notice names an outage that began while the endpoint was down, or that began earlier and had not ended. */
function isReported({ endpoints, posts }: Observation, { endpoint, fromMs, toMs }: Outage): boolean {
  const subscriptionId = endpoints.find(({ name }) => name === endpoint)?.subscriptionId
  const sincesMs = posts.flatMap(({ content }) =>
    content.kind === 'failing' && content.subscriptionId === subscriptionId ? Date.parse(content.since) : [],
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
