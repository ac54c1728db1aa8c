import { Unavailable } from '@switchhook/contracts'
import { createUnfinishedParts } from './handle-members.ts'

const PARTS = ['a', 'b', 'c']

/** Returns what is worked on when these parts fail. */
function recording(most?: number) {
  const unfinished = createUnfinishedParts<string>(String, most)
  return async (message: string, { failing = '', atOnce = 3 } = {}): Promise<string> => {
    let worked = ''
    const work = async (part: string): Promise<void> => {
      worked += part
      if (failing.includes(part)) throw new Unavailable('rabbitmq', `no ${part}`)
    }
    const ended = await unfinished(message, PARTS, work, atOnce).catch(String)
    expect(ended).toBe(failing === '' ? undefined : `Unavailable: no ${failing[0]}`)
    return worked
  }
}

test('finished parts are left out until all parts of their message are finished', async () => {
  const work = recording()
  expect(await work('message', { failing: 'bc' })).toBe('abc')
  expect(await work('another')).toBe('abc')
  expect(await work('message', { failing: 'c' })).toBe('bc')
  expect(await work('message')).toBe('c')
  expect(await work('message')).toBe('abc')
})

test('after a failure no further part begins', async () => {
  const work = recording()
  expect(await work('message', { failing: 'b', atOnce: 1 })).toBe('ab')
  expect(await work('message', { atOnce: 1 })).toBe('bc')
})

test('beyond the limit the oldest messages are forgotten', async () => {
  const work = recording(4)
  const messages = ['1', '2', '3', '4']
  for (const message of messages) await work(message, { failing: 'c' })
  const left: string[] = []
  for (const message of messages) left.push(await work(message))
  expect(left).toEqual(['abc', 'abc', 'c', 'c'])
})
