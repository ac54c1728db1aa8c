import { Unavailable } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import { createPacker, type PackerOptions } from './packer.ts'

type Publish = (items: readonly string[], target: number) => Promise<void>

/** Publishes the items of a packet together. */
function recordingPacker(options: Partial<Omit<PackerOptions<string>, 'publish'>> & { publish?: Publish } = {}) {
  const packets: { readonly target: number; readonly items: readonly string[] }[] = []
  const { publish = async (items, target) => void packets.push({ target, items }) } = options
  const packer = createPacker<string>({
    maxMembers: 100,
    maxBytes: 1_000,
    gatherMs: 1,
    ...options,
    publish: (items, target) => {
      const stored = publish(items, target)
      return items.map(() => stored)
    },
  })
  return { packets, packer }
}

test.each([0, 1])(
  'items of a moment share a packet, and each target has its own (gathered for %d ms)',
  async (gatherMs) => {
    const { packets, packer } = recordingPacker({ gatherMs })
    await Promise.all([packer.add('a', 1, 1), packer.add('b', 1, 2), packer.add('c', 1, 1)])
    expect(packets).toEqual([
      { target: 1, items: ['a', 'c'] },
      { target: 2, items: ['b'] },
    ])
    await packer.add('d', 1, 1)
    expect(packets[2]).toEqual({ target: 1, items: ['d'] })
  },
)

test.each<[string, number, number, number[]]>([
  ['100 members', 250, 1, [100, 100, 50]],
  ['1,000 bytes', 5, 400, [3, 2]],
])('a packet is closed at %s', async (_limit, items, bytes, sizes) => {
  const { packets, packer } = recordingPacker()
  await Promise.all(Array.from({ length: items }, (_, n) => packer.add(`${n}`, bytes, 0)))
  expect(packets.map((packet) => packet.items.length)).toEqual(sizes)
})

test('an item resolves only when its packet is stored, and rejects with it', async () => {
  let published: (refuse: (error: Error) => void) => void
  const publishing = new Promise<(error: Error) => void>((resolve) => (published = resolve))
  const { packer } = recordingPacker({ publish: () => new Promise((_resolve, reject) => published(reject)) })
  let settled = 0
  const added = ['a', 'b'].map((text) => packer.add(text, 1, 0).finally(() => (settled += 1)))
  const results = Promise.allSettled(added)
  const refuse = await publishing
  expect(settled).toBe(0)
  refuse(new Unavailable('rabbitmq', 'away'))
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('while another packet is in flight, items gather in one packet, unless it is full', async () => {
  const sizes: number[] = []
  const confirms: (() => void)[] = []
  const { packer } = recordingPacker({
    gatherMs: 0,
    maxMembers: 3,
    whileInFlight: { packets: 1, ms: 3_000 },
    publish: async (items) => {
      sizes.push(items.length)
      await new Promise<void>((resolve) => confirms.push(resolve))
    },
  })
  const iteration = () => new Promise(setImmediate)
  const add = async (text: string): Promise<void> => {
    void packer.add(text, 1, 0)
    await iteration()
  }
  for (const text of ['a', 'b', 'c']) await add(text)
  expect(sizes).toEqual([1])
  confirms[0]?.()
  await iteration()
  expect(sizes).toEqual([1, 2])
  for (const text of ['d', 'e', 'f']) await add(text)
  expect(sizes).toEqual([1, 2, 3])
})

test('a packet waits for those in flight only for a while', async () => {
  const sizes: number[] = []
  const { packer } = recordingPacker({
    gatherMs: 0,
    whileInFlight: { packets: 1, ms: 1 },
    publish: async (items) => {
      sizes.push(items.length)
      await new Promise<void>(() => {})
    },
  })
  void packer.add('a', 1, 0)
  await eventually(() => expect(sizes).toEqual([1]))
  for (const text of ['b', 'c']) void packer.add(text, 1, 0)
  await eventually(() => expect(sizes).toEqual([1, 2]))
})
