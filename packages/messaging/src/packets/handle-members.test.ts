import { Unavailable } from '@switchhook/contracts'
import { createHandleMembers, type MembersDeps } from './handle-members.ts'
import type { Packet } from './packet.ts'

const MEMBERS = Array.from({ length: 100 }, (_, n) => n)
const aPacket = (returns = 0): Packet<number> => ({ id: 'one', members: MEMBERS, returns })
const away = (): Promise<never> => Promise.reject(new Unavailable('rabbitmq', 'away'))
const bug = (): Promise<never> => Promise.reject(new TypeError('a bug'))

type Change = Partial<MembersDeps<number>> & { readonly handle?: (member: number) => Promise<void> }

function record({ handle, ...change }: Change = {}) {
  const handled: number[] = []
  const alone: number[] = []
  const logged: string[] = []
  const handleMembers = createHandleMembers<number>({
    publishUnpacked: async (member) => void alone.push(member),
    log: { error: (message) => logged.push(message), warn: (message) => logged.push(message) },
    ...change,
  })
  const note = async (member: number): Promise<void> => void handled.push(member)
  return { handle: (packet: Packet<number>) => handleMembers(packet, handle ?? note), handled, alone, logged }
}

test('every member is handled', async () => {
  const { handle, handled, alone } = record()
  await handle(aPacket(4))
  expect([handled, alone]).toEqual([MEMBERS, []])
})

test('a member that fails is published alone, and the other 99 are handled', async () => {
  const handled: number[] = []
  const { handle, alone, logged } = record({
    handle: async (member) => (member === 0 ? await bug() : void handled.push(member)),
  })
  await handle(aPacket())
  expect([handled, alone]).toEqual([MEMBERS.slice(1), [0]])
  expect(logged).toHaveLength(1)
})

test.each<[string, Change]>([
  ['a dependency is away', { handle: away }],
  ['a failed member cannot be published', { handle: bug, publishUnpacked: away }],
])('if %s, the packet is rejected with Unavailable', async (_case, change) => {
  await expect(record(change).handle(aPacket())).rejects.toThrow(Unavailable)
})

test('a packet that was returned five times is taken apart unhandled: one of its members may end the process', async () => {
  const { handle, handled, alone } = record()
  await handle(aPacket(5))
  expect([handled, alone]).toEqual([[], MEMBERS])
})

test('if taking a packet apart fails, only the members that were not published are published again', async () => {
  const published: number[] = []
  let isAway = true
  const { handle } = record({
    publishUnpacked: async (member) => {
      if (isAway && published.length === 50) await away()
      published.push(member)
    },
  })
  await expect(handle(aPacket(5))).rejects.toThrow(Unavailable)
  isAway = false
  await handle(aPacket(5))
  expect(published).toHaveLength(100)
})

test('after a failure the other members are awaited, and only the failed one is repeated', async () => {
  const ended: number[] = []
  let isFailing = true
  const { handle } = record({
    handle: async (member) => {
      if (isFailing && member === 2) await away()
      await new Promise(setImmediate)
      ended.push(member)
    },
  })
  await expect(handle(aPacket())).rejects.toThrow(Unavailable)
  expect(ended).toHaveLength(99)
  isFailing = false
  await handle(aPacket())
  expect(ended.slice(99)).toEqual([2])
})
