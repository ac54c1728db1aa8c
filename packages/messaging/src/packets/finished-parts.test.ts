import { createFinishedParts } from './handle-members.ts'

const finishedParts = (most?: number) => createFinishedParts<string>(String, most)
const PARTS = ['a', 'b', 'c']

test('finished parts are left out until their message is forgotten', () => {
  const finished = finishedParts()
  finished.remember('message', PARTS, ['b', 'c'])
  expect(finished.left('message', PARTS)).toEqual(['b', 'c'])
  expect(finished.left('another', PARTS)).toEqual(PARTS)
  finished.remember('message', PARTS, ['c'])
  expect(finished.left('message', PARTS)).toEqual(['c'])
  finished.forget('message')
  expect(finished.left('message', PARTS)).toEqual(PARTS)
})

test('beyond the limit the oldest messages are forgotten', () => {
  const finished = finishedParts(6)
  const messages = ['1', '2', '3', '4']
  for (const message of messages) finished.remember(message, PARTS, [])
  expect(messages.map((message) => finished.left(message, PARTS).length)).toEqual([3, 3, 0, 0])
})
