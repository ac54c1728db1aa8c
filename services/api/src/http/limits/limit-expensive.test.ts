import type { AppError } from '@switchhook/contracts'
import type { Caller } from '../route.ts'
import { createLimitExpensive } from './limit-expensive.ts'

const callerOf = (clientId: string, change: Partial<Caller> = {}): Caller => ({
  tenant: 'acme',
  clientId,
  issuer: 'https://idp.example',
  role: 'viewer',
  ...change,
})

/** Starts work that ends when the test says so. */
function scene(limits: { mostWaiting?: number; maxWaitMs?: number } = {}) {
  const client = { atATime: 1, mostWaiting: 2, maxWaitMs: 10_000, ...limits }
  const limited = createLimitExpensive({ client, tenant: { ...client, atATime: 2 } })
  const running: string[] = []
  const endings = new Map<string, (error?: Error) => void>()
  const settled = () => new Promise((resolve) => void setImmediate(resolve))
  return {
    running,
    start: (name: string, caller = callerOf('crm'), isClosed = () => false) => {
      const done = limited(
        caller,
        async () => {
          running.push(name)
          await new Promise<void>((resolve, reject) => {
            endings.set(name, (error) => (error === undefined ? resolve() : reject(error)))
          })
          return name
        },
        isClosed,
      )
      return { done: done.catch((error: unknown) => error) }
    },
    end: async (name: string, error?: Error) => {
      endings.get(name)?.(error)
      running.splice(running.indexOf(name), 1)
      await settled()
    },
  }
}

test('one runs at a time, the others in the order in which they came', async () => {
  const { running, start, end } = scene()
  const all = ['a', 'b', 'c'].map((name) => start(name))
  for (const name of ['a', 'b', 'c']) {
    expect(running).toEqual([name])
    await end(name)
  }
  expect(await Promise.all(all.map(({ done }) => done))).toEqual(['a', 'b', 'c'])
})

test('a client with too many waiting requests is refused, and accepted once there is room', async () => {
  const { running, start, end } = scene()
  for (const name of ['a', 'b', 'c']) start(name)
  expect(await start('d').done).toMatchObject({ code: 'rate-limited', headers: { 'Retry-After': '1' } })
  await end('a')
  start('e')
  for (const name of ['b', 'c']) await end(name)
  expect(running).toEqual(['e'])
})

test('a request whose client has left while it waited does not run', async () => {
  const { running, start, end } = scene()
  let isClosed = false
  start('a')
  const left = start('b', callerOf('crm'), () => isClosed)
  start('c')
  isClosed = true
  await end('a')
  await left.done
  expect(running).toEqual(['c'])
})

test('a request that has waited too long is refused and never runs', async () => {
  const { running, start, end } = scene({ maxWaitMs: 60 })
  start('a')
  expect(await start('b').done).toMatchObject({ code: 'rate-limited', headers: { 'Retry-After': '1' } })
  await end('a')
  expect(running).toEqual([])
})

test('after a failure the next request runs', async () => {
  const { running, start, end } = scene({ mostWaiting: 1 })
  const first = start('a')
  start('b')
  await end('a', new Error('away'))
  expect(await first.done).toMatchObject({ message: 'away' })
  expect(running).toEqual(['b'])
})

test.each<[string, Caller]>([
  ['another client', callerOf('erp')],
  ['the same client of another issuer', callerOf('crm', { issuer: 'https://other.example' })],
  ['another user of the client', callerOf('crm', { subject: 'alice' })],
  ['a request from a trusted network', { tenant: 'acme', clientId: 'trusted-network', role: 'viewer' }],
])('%s does not wait', async (_who, other) => {
  const { running, start } = scene({ mostWaiting: 0 })
  start('a')
  start('b', other)
  expect(running).toEqual(['a', 'b'])
})

test('invented people of a tenant run a few at a time; another tenant does not wait', async () => {
  const { running, start, end } = scene()
  for (const subject of ['a', 'b', 'c', 'd']) start(subject, callerOf('crm', { subject }))
  start('other', callerOf('crm', { tenant: 'globex', issuer: 'https://globex.example' }))
  await end('none')
  expect(running).toEqual(['a', 'b'])
})

test('a refusal names whose limit was reached', async () => {
  const { start } = scene({ mostWaiting: 0 })
  const detailOf = async (name: string, caller: Caller) => ((await start(name, caller).done) as AppError).extra.detail
  start('a', callerOf('crm'))
  expect(await detailOf('b', callerOf('crm'))).toContain('of this client are waiting')
  start('c', callerOf('erp'))
  expect(await detailOf('d', callerOf('bi'))).toContain('of this tenant are waiting')
})
