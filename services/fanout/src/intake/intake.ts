import { type PlatformEvent, parseEvent, type Tenant } from '@switchhook/contracts'
import { ALONE_HEADER, type IncomingMessage, type Packer, type SingleEvent } from '@switchhook/messaging'
import { parseEventMessage } from '../events/handle-event.ts'
import type { FairTurns } from './fair-turns.ts'
import type { TenantShares } from './tenant-shares.ts'

type ReceivedEvent = ReturnType<typeof parseReceivedEvent>

/** @throws Unparsable as `parseEventMessage` */
export const parseReceivedEvent = (message: IncomingMessage) => ({
  event: parseEventMessage(message),
  content: message.content,
  /** It came out of a packet and must not be packed again. */
  isAlone: message.headers[ALONE_HEADER] === true,
})

/** @throws Unparsable for a member of a packet that is not an event */
export const parsePacked = ({ content, traceparent, revision }: SingleEvent): PlatformEvent => ({
  ...parseEvent(content),
  ...(traceparent !== undefined && { traceparent }),
  ...(revision !== undefined && { revision }),
})

/** The line of events that came out of packets. It has no tenant, because the waits of a deferred tenant end. */
const ALONE = Symbol('alone')

export type Line = Tenant | typeof ALONE

export interface IntakeDeps {
  readonly shares: TenantShares
  readonly turns: FairTurns<Line>
  /** Resolves to the number of deliveries. */
  readonly handle: (event: PlatformEvent) => Promise<number>
  readonly packer: Pick<Packer<SingleEvent>, 'add'>
  /** More deliveries are due than workers take. */
  readonly areDeliveriesLate: () => boolean
  /** Called with each event that its backlog has stored. */
  readonly deferred: () => void
}

/** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
export function createIntake({ shares, turns, handle, packer, areDeliveriesLate, deferred }: IntakeDeps) {
  /** Resolves to false if the event did not get a turn. */
  async function handleInTurn(event: PlatformEvent, line: Line): Promise<boolean> {
    if (!(await turns.take(line))) return false
    try {
      turns.charge(event.tenant, await handle(event))
      return true
    } finally {
      turns.giveBack()
    }
  }

  async function pack({ event, content }: ReceivedEvent, backlog: number): Promise<void> {
    const { tenant, eventType, traceparent } = event
    const single = { content, eventType, ...(traceparent !== undefined && { traceparent }) }
    await packer.add(single, content.length, backlog).finally(() => shares.packed(tenant))
    deferred()
  }

  return async function take(received: ReceivedEvent): Promise<void> {
    const { event, isAlone } = received
    const { tenant } = event
    if (isAlone) {
      if (await handleInTurn(event, ALONE)) return
      throw new Error('an event that must be handled alone got no turn')
    }
    const backlog = shares.route(tenant, areDeliveriesLate())
    if (backlog !== undefined) {
      // Events that stay unacknowledged for long keep RabbitMQ from taking one acknowledgement for many.
      turns.endWaitsOf(tenant)
      return await pack(received, backlog)
    }
    const isHandled = await handleInTurn(event, tenant).finally(() => shares.finished(tenant))
    if (!isHandled) await take(received)
  }
}
