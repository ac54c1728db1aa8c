import { Unavailable } from '@switchhook/contracts'
import { createFinishedMembers, handleMembers, type MemberLimit, type MembersDeps } from './handle-members.ts'
import type { Packet } from './packet.ts'

const MEMBERS = Array.from({ length: 100 }, (_, n) => n)
const aPacket = (returns = 0): Packet<number> => ({ id: 'one', members: MEMBERS, returns })
const away = (): Promise<never> => Promise.reject(new Unavailable('rabbitmq', 'away'))
const bug = (): Promise<never> => Promise.reject(new TypeError('a bug'))

/** A semaphore, in the order of asking. */
function aSemaphore(limit: number) {
  const waiting: (() => void)[] = []
  let inUse = 0
  return {
    inUse: () => inUse,
    acquire: async (): Promise<boolean> => {
      if (inUse === limit) await new Promise<void>((resolve) => waiting.push(resolve))
      inUse += 1
      return true
    },
    release: (): void => {
      inUse -= 1
      waiting.shift()?.()
    },
  }
}

function record(change: Partial<MembersDeps<number>> = {}) {
  const handled: number[] = []
  const alone: number[] = []
  const logged: string[] = []
  const deps: MembersDeps<number> = {
    finished: createFinishedMembers(),
    handle: async (member) => void handled.push(member),
    publishAlone: async (member) => void alone.push(member),
    log: { error: (message) => logged.push(message), warn: (message) => logged.push(message) },
    ...change,
  }
  return { handle: (packet: Packet<number>) => handleMembers(packet, deps), handled, alone, logged }
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

test.each<[string, Partial<MembersDeps<number>>]>([
  ['a dependency is away', { handle: away }],
  ['a failed member cannot be published', { handle: bug, publishAlone: away }],
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
    publishAlone: async (member) => {
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

describe('with a limit', () => {
  const withLimit = (limit: Partial<MemberLimit<number>>, change: Partial<MembersDeps<number>> = {}) => {
    const stored: number[] = []
    const recorded = record({
      limit: {
        acquire: () => true,
        release: () => {},
        putBack: async (members) => void stored.push(...members),
        ...limit,
      },
      ...change,
    })
    return { ...recorded, stored }
  }

  test('members that may not begin are stored again', async () => {
    let left = 10
    const { handle, handled, stored } = withLimit({ acquire: () => left-- > 0 })
    await handle(aPacket())
    expect([handled, stored]).toEqual([MEMBERS.slice(0, 10), MEMBERS.slice(10)])
  })

  test('if they cannot be stored, only they are repeated', async () => {
    let left = 10
    let isAway = true
    const stored: number[] = []
    const putBack = async (members: readonly number[]): Promise<void> =>
      isAway ? await away() : void stored.push(...members)
    const { handle, handled } = withLimit({ acquire: () => left-- > 0, putBack })
    await expect(handle(aPacket())).rejects.toThrow(Unavailable)
    isAway = false
    await handle(aPacket())
    expect([handled.length, stored.length]).toEqual([10, 90])
  })

  test('after a failure no other member begins, and only the finished ones are not repeated', async () => {
    const semaphore = aSemaphore(4)
    const begun: number[] = []
    let isFailing = true
    const { handle } = withLimit(semaphore, {
      handle: async (member) => {
        begun.push(member)
        await new Promise(setImmediate)
        if (isFailing && member === 2) await away()
        await new Promise(setImmediate)
      },
    })
    await expect(handle(aPacket())).rejects.toThrow(Unavailable)
    expect([begun, semaphore.inUse()]).toEqual([[0, 1, 2, 3], 0])
    isFailing = false
    await handle(aPacket())
    expect(begun.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 2, ...MEMBERS.slice(3)])
  })
})
