import { type EventId, isGuid } from '@switchhook/contracts'
import type { StateChange, StateStore } from '@switchhook/store'
import { RecalledRecords, RecordsOutdated } from './recent-records.ts'
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
      return keys.map(() => undefined)
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

describe('records that this process has committed', () => {
  const write = (...keys: string[]) => ({
    result: 'done',
    writing: { records: keys.map((key) => ({ key, value: key })) },
  })

  test('are not read again for a step that writes all of them, and their versions are compared', async () => {
    const { store, asked, reads } = aStore([])
    const transact = createTransact(store, () => {})
    const seen: unknown[] = []
    for (let n = 0; n < 2; n++) {
      await transact('acme', ['a', 'b'], (values) => {
        seen.push(values)
        return write('a', 'b')
      })
    }
    expect(reads).toHaveLength(1)
    expect(seen[1]).toEqual(['a', 'b'])
    expect(asked[1]?.records.map(({ expectedVersion }) => expectedVersion)).toEqual([1, 1])
    await transact('globex', ['a', 'b'], () => write('a', 'b'))
    expect(reads).toHaveLength(2)
  })

  test.each<[string, () => ReturnType<typeof write> | { readonly result: string }]>([
    ['writes nothing', () => ({ result: 'done' })],
    ['writes only some of them', () => write('a')],
  ])('are read for a step that %s', async (_what, decide) => {
    const { store, reads } = aStore([])
    const transact = createTransact(store, () => {})
    await transact('acme', ['a', 'b'], () => write('a', 'b'))
    await transact('acme', ['a', 'b'], decide)
    expect(reads).toHaveLength(2)
  })

  test('are read before a step is refused', async () => {
    const { store, reads } = aStore([])
    const transact = createTransact(store, () => {})
    await transact('acme', ['a'], () => write('a'))
    const refuse = ([value]: readonly unknown[]) => {
      if (value !== undefined) throw new Error('refused')
      return { result: 'done' }
    }
    await expect(transact('acme', ['a'], refuse)).resolves.toBe('done')
    expect(reads).toHaveLength(2)
  })

  test('are read for a second after one of them was outdated', async () => {
    const { store, asked, reads } = aStore(['committed', 'conflict', 'committed', 'committed'])
    const transact = createTransact(store, () => {})
    for (let n = 0; n < 3; n++) await transact('acme', ['a'], () => write('a'))
    expect(asked.map(({ records }) => records[0]?.expectedVersion)).toEqual([0, 1, 0, 0])
    expect(reads).toHaveLength(3)
  })

  test('are not carried out if they are given as recalled and the commit does not compare all of them', async () => {
    const { store, asked } = aStore(['conflict', 'committed'])
    const transact = createTransact(store, () => {})
    const known = new RecalledRecords([
      ['a', { version: 1, value: 'a' }],
      ['b', { version: 1, value: 'b' }],
    ])
    const step = (...keys: string[]) => transact('acme', ['a', 'b'], () => write(...keys), [], known)
    await expect(step('a')).rejects.toThrow(RecordsOutdated)
    expect(asked).toHaveLength(0)
    await expect(step('a', 'b')).rejects.toThrow(RecordsOutdated)
    expect([asked.length, known.areProven]).toEqual([1, false])
    await expect(step('a', 'b')).resolves.toBe('done')
    expect(known.areProven).toBe(true)
  })
})
