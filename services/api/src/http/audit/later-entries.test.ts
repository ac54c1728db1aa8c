import type { Tenant } from '@switchhook/contracts'
import type { NewAuditEntry } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { openLaterEntries } from './later-entries.ts'

const entry = (n: number): NewAuditEntry => ({ action: 'call.dialled', entry: { n } })
const numbersOf = (entries: readonly NewAuditEntry[]): number[] =>
  entries.map(({ entry }) => (entry as { n: number }).n)

/** A store whose calls end when the test says so. */
function aStore(options: { readonly mostWaiting?: number } = {}) {
  const calls: (readonly [tenant: Tenant, list: string, numbers: readonly number[]])[] = []
  const warnings: unknown[] = []
  const open: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const later = openLaterEntries(
    {
      append: (tenant, list, entries) => {
        calls.push([tenant, list, numbersOf(entries)])
        return new Promise((resolve, reject) => void open.push({ resolve, reject }))
      },
    },
    { warn: (message, fields) => void warnings.push([message, fields]) },
    options,
  )
  /** Ends the next call. */
  const end = async (error?: Error): Promise<void> => {
    const call = await eventually(() => {
      const [first] = open
      if (first === undefined) throw new Error('no call is open')
      return first
    })
    open.shift()
    if (error === undefined) call.resolve()
    else call.reject(error)
    await new Promise(setImmediate)
  }
  return { later, calls, warnings, end }
}

test('entries that are added within some milliseconds are stored together, per tenant and in order', async () => {
  const { later, calls, end } = aStore()
  for (const n of [1, 2, 3]) later.add('acme', entry(n))
  later.add(null, entry(4))
  await end()
  later.add('acme', entry(5))
  await end()
  await end()
  expect(calls).toEqual([
    ['acme', 'commands', [1, 2, 3]],
    [null, 'commands', [4]],
    ['acme', 'commands', [5]],
  ])
})

test('a tenant with very many entries does not delay those of another', async () => {
  const { later, calls, end } = aStore()
  for (let n = 0; n < 70; n++) later.add('acme', entry(n))
  later.add('globex', entry(1_000))
  for (let n = 0; n < 4; n++) await end()
  expect(calls.map(([tenant, , numbers]) => [tenant, numbers.length])).toEqual([
    ['acme', 25],
    ['globex', 1],
    ['acme', 25],
    ['acme', 20],
  ])
})

test('entries that cannot be stored are reported, and later ones are stored', async () => {
  const { later, calls, warnings, end } = aStore()
  later.add('acme', entry(1))
  const error = new Error('Redis is away')
  await end(error)
  expect(warnings).toEqual([['entries of the audit log could not be stored', { entries: 1, error }]])
  later.add('acme', entry(2))
  await end()
  expect(calls.at(-1)).toEqual(['acme', 'commands', [2]])
})

test('a bounded number of entries waits; the others are counted and reported', async () => {
  const { later, calls, warnings, end } = aStore({ mostWaiting: 3 })
  for (const n of [1, 2, 3, 4, 5]) later.add('acme', entry(n))
  await end()
  expect(calls.map(([, , numbers]) => numbers)).toEqual([[1, 2, 3]])
  expect(warnings).toEqual([['entries of the audit log could not be stored', expect.objectContaining({ entries: 2 })]])
  later.add('acme', entry(6))
  await end()
  expect(calls.at(-1)?.[2]).toEqual([6])
})

test('closing waits until every entry is stored', async () => {
  const { later, end } = aStore()
  await later.stored()
  later.add('acme', entry(1))
  later.add(null, entry(2))
  const stored = later.stored()
  const isOpen = async (): Promise<boolean> => (await Promise.race([stored, Promise.resolve('open')])) === 'open'
  await end()
  expect(await isOpen()).toBe(true)
  await end()
  await stored
})
