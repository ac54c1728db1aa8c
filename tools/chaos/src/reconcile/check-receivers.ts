import { ParkedReasonNumber } from '@switchhook/contracts'
import { HEALTHY_ENDPOINT } from '../subscribers/behaviour.ts'
import { isInLapse, isLater, isRolledBack, type Observation, type Shown } from './observation.ts'
import type { Problem } from './problem.ts'

const ENDED = 7

/**
 * Checks that a receiver has applied each event that the endpoint `healthy` got, and no event twice; and that it shows each
 * leg and agent as the API does, and no other live leg.
 *
 * A delivery whose schedule ran out while the receiver was away is sent again. It has no effect if a rollback of Redis lost its
 * parked record: then its notice was published in the lost time.
 *
 * If Redis lost the write that the receiver shows, the API has an older state, or no such leg: such a leg has no end, and
 * its events can arrive after the receiver has read the calls. A newer state of the API has to be shown, except of a leg
 * whose lost event was its end: a receiver applies nothing after an end.
 */
export function checkReceivers({ receivers, posts, lapses }: Observation): Problem[] {
  const expected = new Set(posts.flatMap(({ endpoint, eventId }) => (endpoint === HEALTHY_ENDPOINT ? eventId : [])))
  const forgotten = new Set(
    posts.flatMap(({ content, occurredAtMs }) =>
      content.kind === 'parked' && content.reason === ParkedReasonNumber.exhausted && isRolledBack(lapses, occurredAtMs)
        ? `${content.subscriptionId} ${content.eventId}`
        : [],
    ),
  )
  const isLost = (viewed: Shown | undefined, known: Shown | undefined): boolean =>
    viewed !== undefined &&
    isInLapse(lapses, viewed.occurredAtMs) &&
    (known === undefined || !isLater(known, viewed) || (viewed.isCall && viewed.state === ENDED))
  return receivers.flatMap(({ name, subscriptionIds: [ofEach], each, latest, rejected, view, api }) => {
    const applied = new Set(each)
    const isMissing = (id: string): boolean => !applied.has(id) && !forgotten.has(`${ofEach} ${id}`)
    const viewed = new Map(view.map((shown) => [shown.subject, shown]))
    const known = new Map(api.map((shown) => [shown.subject, shown]))
    const differs = [
      ...api.filter((shown) => !isSame(shown, viewed.get(shown.subject))),
      ...view.filter((shown) => shown.isCall && shown.state !== ENDED && !known.has(shown.subject)),
    ].filter(({ subject }) => !isLost(viewed.get(subject), known.get(subject)))
    const difference = ({ subject }: Shown): string =>
      `${subject} (${textOf(viewed.get(subject))}; in the API ${textOf(known.get(subject))})`
    return [
      ...[...expected].filter(isMissing).map(problem('effect missing', name)),
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
