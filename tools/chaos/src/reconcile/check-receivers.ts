import { isInLapse, type Observation, type Shown } from './observation.ts'
import type { Problem } from './problem.ts'

const ENDED = 7

/**
 * Checks that a receiver has applied each event that the endpoint `healthy` got, and no event twice; and that it shows each
 * leg and agent as the API does, and no other live leg. If Redis lost the write that the receiver shows, the API shows an
 * older state, or no such leg: such a leg has no end, and its events can arrive after the receiver has read the calls.
 */
export function checkReceivers({ receivers, posts, lapses }: Observation): Problem[] {
  const expected = new Set(posts.flatMap(({ endpoint, eventId }) => (endpoint === 'healthy' ? eventId : [])))
  const isLost = (shown: Shown | undefined): boolean => shown !== undefined && isInLapse(lapses, shown.occurredAtMs)
  return receivers.flatMap(({ name, each, latest, rejected, view, api }) => {
    const applied = new Set(each)
    const viewed = new Map(view.map((shown) => [shown.subject, shown]))
    const known = new Map(api.map((shown) => [shown.subject, shown]))
    const differs = [
      ...api.filter((shown) => !isSame(shown, viewed.get(shown.subject))),
      ...view.filter((shown) => shown.isCall && shown.state !== ENDED && !known.has(shown.subject)),
    ].filter(({ subject }) => !isLost(viewed.get(subject)))
    const difference = ({ subject }: Shown): string =>
      `${subject} (${textOf(viewed.get(subject))}; in the API ${textOf(known.get(subject))})`
    return [
      ...[...expected].filter((id) => !applied.has(id)).map(problem('effect missing', name)),
      ...[...repeatedIn(each), ...repeatedIn(latest)].map(problem('effect repeated', name)),
      ...differs.map(difference).map(problem('view differs', name)),
      ...rejected.map(problem('rejected by a receiver', name)),
    ]
  })
}

const problem =
  (kind: Problem['kind'], name: string) =>
  (what: string): Problem => ({ kind, what: `${what} at the receiver with ${name}` })

/** An agent without any event is not in the view of a receiver. */
const isSame = ({ state, sequence }: Shown, viewed: Shown | undefined): boolean =>
  viewed === undefined ? sequence === 0 : viewed.state === state && viewed.sequence === sequence

const textOf = (shown: Shown | undefined): string =>
  shown === undefined
    ? 'missing'
    : `state ${shown.state}, sequence ${shown.sequence} of ${new Date(shown.occurredAtMs).toISOString()}`

function repeatedIn(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.size === seen.add(id).size)
}
