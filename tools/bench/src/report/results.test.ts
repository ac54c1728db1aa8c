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

test('a name that is none is refused, and those that there are are told', () => {
  expect(() => wantedFigures('noisy,loud', all)).toThrow(
    'FIGURES: there is no loud; there are commands, latency, noisy',
  )
})
