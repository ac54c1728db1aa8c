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
function aStore(results: ('committed' | 'conflict')[]) {
  const asked: StateChange[] = []
  const reads: (readonly string[])[] = []
  const store: StateStore = {
    read: async (_tenant, keys) => {
      reads.push(keys)
      return keys.map(() => ({ version: 0, value: undefined }))
    },
    commit: async (_tenant, change) => {
      asked.push(change)
      return results.shift() ?? 'committed'
    },
  }
  return { store, asked, reads }
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

test('records that the caller has read are not read again, unless the commit conflicts or one of them is missing', async () => {
  const { store, asked, reads } = aStore(['conflict', 'committed'])
  const transact = createTransact(store, () => {})
  const known = new Map([['agent:a', { version: 7, value: 'read' }]])
  const seen: unknown[] = []
  const decide = ([value]: readonly unknown[]) => {
    seen.push(value)
    return { result: undefined, writing: { records: [{ key: 'agent:a', value: 1 }] } }
  }
  await transact('acme', ['agent:a'], decide, [], known)
  expect(asked.map(({ records }) => records[0]?.expectedVersion)).toEqual([7, 0])
  expect([seen, reads]).toEqual([['read', undefined], [['agent:a']]])
  await transact('acme', ['agent:a', 'call:b'], decide, [], known)
  expect(reads.at(-1)).toEqual(['agent:a', 'call:b'])
})

test('the result follows the publish of the events, which begins at the end of the turn of the commit', async () => {
  const { store } = aStore([])
  const order: string[] = []
  const commit: StateStore['commit'] = async () => {
    // As the relay publishes the events that it has claimed.
    setImmediate(() => order.push('published'))
    return 'committed'
  }
  const transact = createTransact({ ...store, commit }, () => {})
  await transact('acme', [], () => ({ result: undefined, writing: { records: [], events: [event] } }))
  order.push('answered')
  expect(order).toEqual(['published', 'answered'])
})
