import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { type Client, type Schemas, SwitchhookError } from '@switchhook/client'
import { usage } from '../failure.ts'
import { take } from '../options.ts'

export interface ListenName {
  /** The same name continues where it stopped. */
  readonly name?: string
  readonly eventTypes?: readonly Schemas['SubscribedType'][]
  readonly filter?: Schemas['SubscriptionInput']['filter']
  /** A subscription of its own, which is deleted soon after the end. */
  readonly isEphemeral: boolean
}

type Listened = Schemas['Subscription'] & { readonly secret?: string }

const WEEK_SECONDS = 604_800
/** Longer than a handler is usually stopped: `listen` receives nothing meanwhile. */
const EPHEMERAL_SECONDS = 3_600
const TYPES: Schemas['SubscribedType'][] = ['call.status', 'agent.status']

/** Finds the pull subscription with this name, or creates it. */
export async function ensureSubscription(
  { subscriptions }: Client,
  { name = hostname(), eventTypes, filter, isEphemeral }: ListenName,
): Promise<Listened> {
  const wanted: Schemas['SubscriptionInput'] = {
    mode: 'pull',
    eventTypes: [...(eventTypes ?? TYPES)],
    ...(filter !== undefined && { filter }),
    description: 'switchhook listen',
    deleteAfterUnusedSeconds: isEphemeral ? EPHEMERAL_SECONDS : WEEK_SECONDS,
  }
  if (isEphemeral) return subscriptions.create(wanted)
  const externalId = `listen-${name.replaceAll(/[^!-~]+/g, '-')}`
  const find = async (): Promise<Listened | undefined> => (await take(subscriptions.list({ externalId }), 1))[0]
  let found = await find()
  if (found === undefined) {
    try {
      return await subscriptions.create({ ...wanted, externalId })
    } catch (error) {
      if (!(error instanceof SwitchhookError && error.code === 'external-id-taken')) throw error
      // Another `listen` has just created it.
      found = await find()
      if (found === undefined) throw error
    }
  }
  const isSame = [...found.eventTypes].toSorted().join() === wanted.eventTypes.toSorted().join()
  if (eventTypes !== undefined && !isSame) {
    throw usage(`${externalId} receives ${found.eventTypes.join(', ')}: choose another --name for other events.`)
  }
  if (filter !== undefined && !isDeepStrictEqual(found.filter, filter)) {
    const present = found.filter === null ? 'has no filter' : `has the filter ${JSON.stringify(found.filter)}`
    throw usage(`${externalId} ${present}: choose another --name for another one.`)
  }
  return found
}

/** Parks the deliveries that are due now, so that they can be sent after all. @returns how many */
export async function skipBacklog({ subscriptions }: Client, id: string): Promise<number> {
  let skipped = 0
  let backlog: number | undefined
  for (;;) {
    const { items, held } = await subscriptions.receive(id, { max: 100, waitSeconds: 0, leaseSeconds: 60 })
    backlog ??= items.length + held
    if (items.length > 0) {
      // 410: gone. The answer is shown with the attempt.
      await subscriptions.report(id, {
        items: items.map(({ deliveryId, leaseToken }) => ({
          deliveryId,
          leaseToken,
          status: 410,
          answer: 'Skipped by switchhook listen --skip-backlog',
        })),
      })
    }
    skipped += items.length
    // Later deliveries are not part of the backlog.
    if (items.length === 0 || skipped >= backlog) return skipped
  }
}
