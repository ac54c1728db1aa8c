import { type EventId, isGuid } from '@switchhook/contracts'
import type { StateChange, StateStore } from '@switchhook/store'
import { createTransact, type NewEvent } from './transact.ts'

const event: NewEvent = {
  eventType: 'agent.status',
  occurredAt: '2026-11-20T12:00:00.000Z',
  tenant: 'acme',
  data: { sequence: 1 },
}

/** Answers commits with the given results, and records the changes. */
function aStore(results: ('committed' | 'conflict')[]): { store: StateStore; asked: StateChange[] } {
  const asked: StateChange[] = []
  const store: StateStore = {
    read: async (_tenant, keys) => keys.map(() => undefined),
    commit: async (_tenant, change) => {
      asked.push(change)
      return results.shift() ?? 'committed'
    },
  }
  return { store, asked }
}

test('each try of a commit draws new random event ids, and keeps the rest of the events', async () => {
  const { store, asked } = aStore(['conflict', 'conflict', 'committed'])
  const transact = createTransact(store, () => {})
  await transact('acme', ['agent:a'], () => ({
    result: undefined,
    writing: { records: [{ key: 'agent:a', value: 1 }], events: [event, event] },
  }))
  const ids: EventId[] = asked.flatMap(({ events }) => events.map(({ eventId }) => eventId))
  expect(ids.every(isGuid)).toBe(true)
  expect(new Set(ids).size).toBe(6)
  expect(asked.at(-1)?.events).toMatchObject([event, event])
})

test('a step is reported as committed once, after any number of tries', async () => {
  const { store } = aStore(['conflict', 'committed'])
  const committed: number[] = []
  const transact = createTransact(store, ({ events = [] }) => committed.push(events.length))
  const step = { result: 'done', writing: { records: [], events: [event] } }
  expect(await transact('acme', [], () => step)).toBe('done')
  expect(committed).toEqual([1])
})
