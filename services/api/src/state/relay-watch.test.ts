import { eventually } from '@switchhook/testkit'
import { MOST_MISSES, type RelayWatch, startRelayWatch } from './relay-watch.ts'

let watch: RelayWatch | undefined
afterEach(async () => {
  await watch?.stop()
  watch = undefined
})

/** A watch whose looks show these signs of the relay `other`, and then a new one each; undefined: Redis is away. */
async function lookAt(signs: readonly (string | undefined)[]) {
  const seen = { looks: 0, taken: [] as string[], nudges: 0 }
  watch = startRelayWatch({
    name: 'own',
    everyMs: 1,
    log: { info: () => {} },
    nudge: () => void seen.nudges++,
    outbox: {
      beat: async () => {
        const at = seen.looks++
        const sign = at < signs.length ? signs[at] : `new ${at}`
        if (sign === undefined) throw new Error('Redis is away')
        return new Map([
          ['own', 'same'],
          ['other', sign],
        ])
      },
      takeOver: async (relay) => seen.taken.push(relay),
    },
  })
  await eventually(() => expect(seen.looks).toBeGreaterThan(signs.length + 1))
  await watch.stop()
  return seen
}

const times = (count: number, sign: string | undefined): (string | undefined)[] =>
  Array.from({ length: count }, () => sign)

test('the events of a relay that gives no more signs are taken over once', async () => {
  const { taken, nudges } = await lookAt(times(5 * MOST_MISSES, 'same'))
  expect([taken, nudges]).toEqual([['other'], 1])
})

test.each<[string, (string | undefined)[]]>([
  ['a relay that gives signs now and then', [...times(MOST_MISSES, 'a'), ...times(MOST_MISSES, 'b')]],
  ['a relay whose signs were not seen while Redis was away', [...times(MOST_MISSES, 'a'), undefined, 'a']],
])('the events of %s are left alone', async (_case, signs) => {
  expect((await lookAt(signs)).taken).toEqual([])
})

test('a relay that comes back is taken over again when it dies again', async () => {
  const { taken } = await lookAt([...times(MOST_MISSES + 1, 'a'), ...times(2 * MOST_MISSES, 'b')])
  expect(taken).toEqual(['other', 'other'])
})
