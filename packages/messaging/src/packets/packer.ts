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

/** Gathers items into packets, one open packet for each target. */
export function createPacker<Item>({ maxMembers, maxBytes, gatherMs, whileInFlight, publish }: PackerOptions<Item>) {
  const open = new Map<number, OpenPacket<Item>>()
  /** Packets that are being published, by target. */
  const inFlight = new Map<number, number>()
  const inFlightTo = (target: number): number => inFlight.get(target) ?? 0

  function openFor(target: number): OpenPacket<Item> {
    const items: Item[] = []
    const closed = Promise.withResolvers<void>()
    const published = closed.promise.then(() => publish(items, target))
    const close = (): void => {
      if (open.get(target) !== packet) return
      open.delete(target)
      closed.resolve()
      if (whileInFlight !== undefined) void follow(published, target)
    }
    const packet: OpenPacket<Item> = { items, bytes: 0, isDue: false, close, published }
    const becomeDue = (): void => {
      packet.isDue = true
      closeDue(target)
      // oxlint-disable-next-line no-restricted-globals -- gathers items: no answer is awaited
      if (open.get(target) === packet) setTimeout(close, whileInFlight?.ms)
    }
    // oxlint-disable-next-line no-restricted-globals -- gathers items: no answer is awaited
    if (gatherMs > 0) setTimeout(becomeDue, gatherMs)
    else setImmediate(becomeDue)
    open.set(target, packet)
    return packet
  }

  async function follow(published: OpenPacket<Item>['published'], target: number): Promise<void> {
    inFlight.set(target, inFlightTo(target) + 1)
    // Whoever added an item gets the error.
    await Promise.allSettled(await published.catch(() => []))
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
      await (await packet.published)[at]
    },
  }
}
