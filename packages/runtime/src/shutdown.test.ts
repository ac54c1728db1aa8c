import { setTimeout as delay } from 'node:timers/promises'
import { answerWithin } from './deadline.ts'
import type { LogFields } from './logger.ts'
import { Shutdown } from './shutdown.ts'

function shutdownOf(graceMs: number) {
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = []
  const record = (level: string) => (message: string, fields?: LogFields) => void lines.push({ level, message, fields })
  const log = { error: record('error'), warn: record('warn'), info: record('info'), debug: record('debug') }
  return { shutdown: new Shutdown(log, graceMs), lines }
}

test('the part opened last is closed first, one after the other', async () => {
  const { shutdown, lines } = shutdownOf(1_000)
  const events: string[] = []
  for (const name of ['redis', 'broker', 'consumer']) {
    shutdown.defer(name, async () => {
      events.push(`closing ${name}`)
      await delay(1)
      events.push(`closed ${name}`)
    })
  }
  expect(await shutdown.run()).toBe(true)
  expect(events).toEqual(['consumer', 'broker', 'redis'].flatMap((name) => [`closing ${name}`, `closed ${name}`]))
  expect(lines.at(-1)).toEqual({ level: 'info', message: 'shut down', fields: { clean: true } })
})

test('a shutdown without steps is clean', async () => {
  expect(await shutdownOf(1_000).shutdown.run()).toBe(true)
})

test('repeated calls close each part once and get the same result', async () => {
  const { shutdown } = shutdownOf(1_000)
  let closed = 0
  shutdown.defer('redis', () => ++closed)
  expect(await Promise.all([shutdown.run(), shutdown.run()])).toEqual([true, true])
  expect(await shutdown.run()).toBe(true)
  expect(closed).toBe(1)
})

test.each<[string, () => unknown]>([
  ['rejects', () => Promise.reject(new Error('stuck'))],
  [
    'throws',
    () => {
      throw new Error('stuck')
    },
  ],
])(
  'a step that %s does not keep the others open; it is logged, and the shutdown is not clean',
  async (_case, close) => {
    const { shutdown, lines } = shutdownOf(1_000)
    let closed = false
    shutdown.defer('redis', () => (closed = true))
    shutdown.defer('broker', close)
    expect(await shutdown.run()).toBe(false)
    expect(closed).toBe(true)
    expect(lines[0]).toMatchObject({ level: 'error', fields: { step: 'broker', error: { message: 'stuck' } } })
  },
)

test('a step that hangs is abandoned at the deadline that all steps share, and the rest is still closed', async () => {
  const { shutdown, lines } = shutdownOf(400)
  let closed = false
  shutdown.defer('redis', () => Promise.resolve((closed = true)))
  shutdown.defer('hanging', () => new Promise(() => {}))
  shutdown.defer('slow', () => delay(300))
  const from = performance.now()
  // A deadline of its own for the hanging step would end after 700 ms.
  expect(await answerWithin(600, shutdown.run(), 'the steps do not share a deadline')).toBe(false)
  expect(performance.now() - from).toBeGreaterThan(390)
  expect(closed).toBe(true)
  const errors = lines.filter(({ level }) => level === 'error').map(({ fields }) => fields)
  expect(errors).toMatchObject([{ step: 'hanging', error: { message: expect.stringContaining('SHUTDOWN_GRACE') } }])
})
