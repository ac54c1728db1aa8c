import { isFresh, lifeOf } from './lifetime.ts'

test.each([
  [3_600, 3_539],
  [60, 29],
  [30, 14],
  [2, 0],
])(
  'a token that lives for %i s serves for %i s, and one that cannot be renewed to its end',
  (seconds, servesSeconds) => {
    const after = (agoSeconds: number) => lifeOf(seconds, Date.now() - agoSeconds * 1_000)
    expect(isFresh(after(servesSeconds), true)).toBe(true)
    expect(isFresh(after(servesSeconds + 1.1), true)).toBe(false)
    expect(isFresh(after(servesSeconds + 1.1), false)).toBe(seconds > servesSeconds + 1.1)
    expect(isFresh(after(seconds), false)).toBe(false)
  },
)
