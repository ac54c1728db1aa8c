import { renderProfile } from './render-profile.ts'

const workers = {
  part: 'workers',
  us: 100,
  rows: [
    { name: 'undici', us: 60 },
    { name: 'axios', us: 39 },
    { name: 'lru-cache', us: 1 },
  ],
}
const side = { side: 'Switchhook', perSecond: 2_500.4, othersShare: 0.031, parts: [workers] }

test('each process has a table whose small rows are summed up', () => {
  const text = renderProfile('One to one', 'delivery', [side])
  expect(text).toContain('2500 per second. 100 µs per delivery')
  expect(text).toContain("Other programs used 3 % of the machine's processor time")
  expect(text).toContain(
    '| undici | 60 | 60 % |\n| axios | 39 | 39 % |\n| the rest | 1 | 1 % |\n| **total** | **100** |  |',
  )
})

test('the load is named, and is not part of the sum', () => {
  const parts = [workers, { part: 'receiver', us: 30, rows: [] }]
  const text = renderProfile('One to one', 'delivery', [{ ...side, othersShare: null, parts }])
  expect(text).toContain('100 µs per delivery without the load itself: workers 100, receiver 30.\n')
  expect(text).not.toContain('| receiver |')
})
