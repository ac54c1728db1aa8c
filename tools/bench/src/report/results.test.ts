import { wantedFigures } from './results.ts'

const all = ['commands', 'latency', 'noisy'] as const

test.each<[string | undefined, readonly string[]]>([
  [undefined, all],
  ['', all],
  [' , ', all],
  ['noisy', ['noisy']],
  ['noisy, commands', ['commands', 'noisy']],
])('%j means %j', (named, expected) => {
  expect(wantedFigures(named, all)).toEqual(expected)
})

test('an unknown name is rejected with the list of known names', () => {
  expect(() => wantedFigures('noisy,loud', all)).toThrow(
    'FIGURES: there is no loud; there are commands, latency, noisy',
  )
})
