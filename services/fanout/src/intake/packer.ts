import type { SingleEvent } from '@switchhook/messaging'
import { encodePack } from './pack.ts'

const MOST_EVENTS = 100
const MOST_BYTES = 256 * 1024
/** Long enough to fill packs, also when many tenants burst at once. */
const GATHER_MS = 25

export interface Packer {
  /** Resolves once the broker has stored the pack that contains the event. */
  add(event: SingleEvent, backlog: number): Promise<void>
}

interface OpenPack {
  readonly events: SingleEvent[]
  bytes: number
  readonly close: () => void
  readonly stored: Promise<void>
}

/** Gathers events into packs, one open pack for each backlog. */
export function createPacker(publish: (content: Buffer, backlog: number) => Promise<void>): Packer {
  const open = new Map<number, OpenPack>()

  function openPack(backlog: number): OpenPack {
    const events: SingleEvent[] = []
    let close: (() => void) | undefined
    const closed = new Promise<void>((resolve) => {
      const timer = setTimeout(() => close?.(), GATHER_MS)
      close = () => {
        clearTimeout(timer)
        open.delete(backlog)
        resolve()
      }
    })
    const stored = closed.then(() => publish(encodePack(events), backlog))
    const pack = { events, bytes: 0, close: () => close?.(), stored }
    open.set(backlog, pack)
    return pack
  }

  return {
    add(event, backlog) {
      const pack = open.get(backlog) ?? openPack(backlog)
      pack.events.push(event)
      pack.bytes += event.content.length
      if (pack.events.length >= MOST_EVENTS || pack.bytes >= MOST_BYTES) pack.close()
      return pack.stored
    },
  }
}
