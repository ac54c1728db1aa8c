import { createKeyedQueue } from '@switchhook/runtime'
import type { AriEvent } from './ari/ari-model.ts'

const DEVICES = 'devices'

/**
 * Handles the events of one channel in their order, and so those of all devices. A phone may hang up as soon as Asterisk has
 * accepted its transfer, so a transfer is an event of the channels that it concerns.
 */
export function createEventQueue() {
  const queue = createKeyedQueue()
  return {
    run: (event: AriEvent, work: () => Promise<void>): Promise<void> => queue.run(keysOf(event), work),
    /** Runs between two events of devices. */
    amongDevices: (work: () => Promise<void>): Promise<void> => queue.run(DEVICES, work),
  }
}

function keysOf({ channel, peer, referred_by, refer_to }: AriEvent): readonly string[] {
  const channels = [channel ?? peer, referred_by?.source_channel, refer_to?.destination_channel]
  const ids = channels.flatMap((one) => one?.id ?? [])
  return ids.length === 0 ? [DEVICES] : ids
}
