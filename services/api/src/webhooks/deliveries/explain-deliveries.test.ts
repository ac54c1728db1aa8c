import { newEventId, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { type ExplainEventDeps, explainDeliveries } from './explain-deliveries.ts'

const never = (): never => {
  throw new Error('must not be called')
}

/** Nothing is stored about any event. */
function aTenantWith(count: number) {
  const reads: number[] = []
  const deps: ExplainEventDeps = {
    subscriptions: {
      async *ids() {
        for (let at = 0; at < count; at += 1_000) {
          yield Array.from({ length: Math.min(1_000, count - at) }, (): SubscriptionId => newSubscriptionId())
        }
      },
      findAll: never,
      page: never,
    },
    deliveries: { find: never },
    deliveryLog: {
      records: async (ids) => {
        reads.push(ids.length)
        return ids.map(() => undefined)
      },
    },
    journal: { find: async () => undefined, recent: never, recipients: never },
    healthOf: never,
    now: Date.now,
  }
  return { reads, explain: () => explainDeliveries(deps, 'acme', newEventId(), { limit: 1_000 }) }
}

test.each([
  [0, 0],
  [2_500, 2_500],
  [100_000, 10_000],
])(
  'an unknown event reads no subscription: with %i of them, only the records of %i deliveries',
  async (count, read) => {
    const { reads, explain } = aTenantWith(count)
    expect(await explain()).toBeUndefined()
    expect(reads.reduce((sum, one) => sum + one, 0)).toBe(read)
  },
)
