import { startPoll } from '@switchhook/runtime'
import type { UptimeStore } from '@switchhook/store'

/** Several times within the gap that counts as an outage (uptime-store.ts). */
const EVERY_MS = 1_000

/**
 * Notes that clients can ask this api, from now on until it is stopped. Call it once the api takes requests.
 * @param canServe whether requests are answered now
 */
export function startNotingUptime(uptime: Pick<UptimeStore, 'note'>, canServe: () => boolean) {
  const poll = startPoll(EVERY_MS, async () => {
    // Without Redis no request is answered either, and the next note finds the gap.
    if (canServe()) await uptime.note().catch(() => undefined)
  })
  poll.wake()
  return poll
}
