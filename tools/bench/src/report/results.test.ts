import { busySigns, type Results, wantedFigures } from './results.ts'

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

const measuredAt = (loadAverage: number, runs: readonly number[]) =>
  ({
    deliveries: {
      machine: { cores: 2 },
      loadAverage,
      figure: { workloads: { 'one to one': { sides: { bullmq: { perSecond: 1_000, runs } } } } },
    },
  }) as unknown as Results

test('a high load average at the start and different runs of BullMQ are signs of a busy machine', () => {
  expect(busySigns('deliveries', measuredAt(1, [900, 1_000, 1_150]))).toEqual([])
  expect(busySigns('deliveries', measuredAt(1.1, [900, 1_000, 1_160]))).toEqual([
    'load average 1.1 at the start',
    'runs of BullMQ with axios differ by 26 % (one to one)',
  ])
})
