export interface PackerOptions<Item> {
  /** A packet is closed with this many members, … */
  readonly maxMembers: number
  /** … or this many bytes. */
  readonly maxBytes: number
  /** How long a packet stays open. 0: until the end of this iteration of the event loop. */
  readonly gatherMs: number
  /**
   * While `packets` packets of a target are being published, the next one stays open until one of them is stored, for `ms` at
   * most. A full packet does not wait. Absent: no packet waits for others.
   */
  readonly whileInFlight?: { readonly packets: number; readonly ms: number }
  /** Returns a promise for each item, which resolves once the broker has stored it (`inOneMessage`). */
  readonly publish: (items: readonly Item[], target: number) => readonly Promise<void>[]
}

interface OpenPacket<Item> {
  readonly items: Item[]
  bytes: number
  /** Its time is over: only packets in flight keep it open. */
  isDue: boolean
  readonly close: () => void
  readonly published: Promise<readonly Promise<void>[]>
}

/** For `PackerOptions.publish`: items of one message share the promise of its confirm. */
export const inOneMessage = (items: readonly unknown[], stored: Promise<void>): readonly Promise<void>[] =>
  items.map(() => stored)

export type Packer<Item> = ReturnType<typeof createPacker<Item>>

/** Gathers items into packets, one open packet for each target. */
export function createPacker<Item>({ maxMembers, maxBytes, gatherMs, whileInFlight, publish }: PackerOptions<Item>) {
  const open = new Map<number, OpenPacket<Item>>()
  /** Packets that are being published, by target. */
  const inFlight = new Map<number, number>()
  const inFlightTo = (target: number): number => inFlight.get(target) ?? 0

  function openFor(target: number): OpenPacket<Item> {
    const items: Item[] = []
    const closed = Promise.withResolvers<void>()
    const published = closed.promise.then(() => {
      const stored = publish(items, target)
      if (whileInFlight !== undefined) void follow(stored, target)
      return stored
    })
    const close = (): void => {
      stop()
      open.delete(target)
      closed.resolve()
    }
    const packet: OpenPacket<Item> = { items, bytes: 0, isDue: false, close, published }
    let stop = closeLater(() => {
      packet.isDue = true
      closeDue(target)
      if (open.get(target) === packet) stop = closeLater(close, whileInFlight?.ms ?? 0)
    }, gatherMs)
    open.set(target, packet)
    return packet
  }

  async function follow(stored: readonly Promise<void>[], target: number): Promise<void> {
    inFlight.set(target, inFlightTo(target) + 1)
    await Promise.allSettled(stored)
    inFlight.set(target, inFlightTo(target) - 1)
    closeDue(target)
  }

  function closeDue(target: number): void {
    const packet = open.get(target)
    const mayClose = whileInFlight === undefined || inFlightTo(target) < whileInFlight.packets
    if (packet?.isDue === true && mayClose) packet.close()
  }

  return {
    /** Resolves once the broker has stored the item's packet. @param bytes what the item adds to the packet */
    async add(item: Item, bytes: number, target: number): Promise<void> {
      const packet = open.get(target) ?? openFor(target)
      const at = packet.items.push(item) - 1
      packet.bytes += bytes
      if (packet.items.length >= maxMembers || packet.bytes >= maxBytes) packet.close()
      const stored = await packet.published
      await stored[at]
    },
  }
}

function closeLater(close: () => void, gatherMs: number): () => void {
  if (gatherMs === 0) {
    const immediate = setImmediate(close)
    return () => clearImmediate(immediate)
  }
  // oxlint-disable-next-line no-restricted-globals -- gathers items: no answer is awaited
  const timer = setTimeout(close, gatherMs)
  return () => clearTimeout(timer)
}
