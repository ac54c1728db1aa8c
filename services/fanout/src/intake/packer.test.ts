import { Unavailable } from '@switchhook/contracts'
import { decodePack } from './pack.ts'
import { createPacker } from './packer.ts'

const single = (text: string) => ({ content: Buffer.from(text), eventType: 'call.status' })

function recordingPacker() {
  const packs: { readonly backlog: number; readonly events: string[] }[] = []
  const packer = createPacker(async (content, backlog) => {
    const { events } = decodePack({ content, headers: {} })
    packs.push({ backlog, events: events.map((event) => event.content.toString()) })
  })
  return { packs, packer }
}

test('events of a moment share a pack, and each backlog has its own', async () => {
  const { packs, packer } = recordingPacker()
  await Promise.all([packer.add(single('a'), 1), packer.add(single('b'), 2), packer.add(single('c'), 1)])
  expect(packs).toEqual([
    { backlog: 1, events: ['a', 'c'] },
    { backlog: 2, events: ['b'] },
  ])
})

test.each<[string, number, number, number[]]>([
  ['100 events', 250, 10, [100, 100, 50]],
  ['256 KiB', 5, 100 * 1024, [3, 2]],
])('a pack is closed at %s', async (_limit, events, bytes, sizes) => {
  const { packs, packer } = recordingPacker()
  await Promise.all(Array.from({ length: events }, () => packer.add(single('x'.repeat(bytes)), 0)))
  expect(packs.map((pack) => pack.events.length)).toEqual(sizes)
})

test('an event resolves only when its pack is stored, and rejects with it', async () => {
  let published: (refuse: (error: Error) => void) => void
  const publishing = new Promise<(error: Error) => void>((resolve) => (published = resolve))
  const packer = createPacker(() => new Promise((_resolve, reject) => published(reject)))
  let settled = 0
  const added = ['a', 'b'].map((text) => packer.add(single(text), 0).finally(() => (settled += 1)))
  const results = Promise.allSettled(added)
  const refuse = await publishing
  expect(settled).toBe(0)
  refuse(new Unavailable('rabbitmq', 'away'))
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
