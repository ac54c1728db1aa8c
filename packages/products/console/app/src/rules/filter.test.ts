import { filterText, previewSentence, readFilter } from './filter.ts'

test.each(['', '  \n'])('an empty text, %j, is no filter', (text) => {
  expect(readFilter(text)).toEqual({ filter: null })
})

test('a filter is read as it was written', () => {
  const filter = { 'call.status': { state: [3, 7] } }
  expect(readFilter(filterText(filter))).toEqual({ filter })
  expect(filterText(null)).toBe('')
})

test('a text that is not JSON has a fault', () => {
  expect(readFilter('{state: 3}')).toEqual({ fault: expect.stringMatching(/^This is not JSON: ./) as unknown })
})

const preview = { since: null, examples: [], warnings: [] }

test.each([
  [0, 0, 'The journal has no event of these types yet.'],
  [1, 0, '0 of the latest 1 event would be delivered.'],
  [412, 96, '96 of the latest 412 events would be delivered.'],
])('of %i events, %i pass', (looked, matched, sentence) => {
  expect(previewSentence({ ...preview, looked, matched })).toBe(sentence)
})
