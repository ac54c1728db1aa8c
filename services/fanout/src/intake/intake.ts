import type { PlatformEvent } from '@switchhook/contracts'
import { ALONE_HEADER, type IncomingMessage } from '@switchhook/messaging'
import { parseEventMessage } from '../events/handle-event.ts'
import type { FairTurns } from './fair-turns.ts'
import type { Packer } from './packer.ts'
import type { TenantShares } from './tenant-shares.ts'

/** An event as it arrived in fan-out's queue. */
export interface ReceivedEvent {
  readonly event: PlatformEvent
  readonly content: Buffer
  /** It came out of a pack and must not be packed again. */
  readonly isAlone: boolean
}

/** @throws Unparsable as `parseEventMessage` */
export const parseReceivedEvent = (message: IncomingMessage): ReceivedEvent => ({
  event: parseEventMessage(message),
  content: message.content,
  isAlone: message.headers[ALONE_HEADER] === true,
})

export interface IntakeDeps {
  readonly shares: TenantShares
  readonly turns: FairTurns<string | null>
  readonly handle: (event: PlatformEvent) => Promise<void>
  readonly packer: Packer
  /** More deliveries are due than workers take. */
  readonly areDeliveriesLate: () => boolean
  /** Called with each event that its backlog has stored. */
  readonly deferred: () => void
}

/** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
export function createIntake(deps: IntakeDeps): (received: ReceivedEvent) => Promise<void> {
  const { shares, turns, handle, packer, areDeliveriesLate, deferred } = deps

  async function handleDirectly(event: PlatformEvent): Promise<void> {
    await turns.take(event.tenant)
    try {
      await handle(event)
    } finally {
      turns.giveBack()
    }
  }

  return async ({ event, content, isAlone }) => {
    const { tenant, eventType, traceparent } = event
    if (isAlone) return await handleDirectly(event)
    const backlog = shares.route(tenant, areDeliveriesLate())
    if (backlog === undefined) {
      await handleDirectly(event).finally(() => shares.finished(tenant))
      return
    }
    const single = { content, eventType, ...(traceparent !== undefined && { traceparent }) }
    await packer.add(single, backlog).finally(() => shares.packed(tenant))
    deferred()
  }
}
