import type { BrokerMeter } from '../broker-meter.ts'
import { NotStored, type OutgoingMessage } from '../message/outgoing-message.ts'

const COPY_CONFIRM_MS = 1_000
/** After an unconfirmed copy, no publish of a copy waits for its confirm for this long. */
const COPIES_SLOW_MS = 10_000
/** After a copy that no queue accepted, the next copy with its routing key is sent this long afterwards. */
const UNBOUND_MS = 1_000

/**
 * Publishes the copies for other systems. Their queues must not delay the original, so a copy also resolves when such a queue
 * refuses it or does not confirm it in time. Without such a queue, one copy a second is sent.
 * @param send throws NotStored if it sends nothing; rejects with NotStored if the broker does not confirm the copy
 */
export function createEventCopies(
  meter: Pick<BrokerMeter, 'failed'>,
  send: (message: OutgoingMessage, timeoutMs: number) => Promise<void>,
) {
  /** By routing key: until when no copies are sent, because no other system has bound a queue. */
  const unboundUntil = new Map<string, number>()
  let slowUntil = 0

  function judge(error: unknown, { routingKey }: OutgoingMessage, sentAt: number): void {
    if (!(error instanceof NotStored)) throw error
    const { reason } = error
    if (reason === 'unroutable') unboundUntil.set(routingKey, sentAt + UNBOUND_MS)
    else if (reason === 'timeout') noteSlow()
    else if (reason === 'refused') meter.failed('copy')
    else throw error
  }

  function noteSlow(): void {
    const now = performance.now()
    if (now < slowUntil) return
    slowUntil = now + COPIES_SLOW_MS
    meter.failed('copy')
  }

  return {
    /** The next copy of every type is sent. */
    connected: () => unboundUntil.clear(),
    /** @throws NotStored if the broker cannot be reached or has an alarm */
    async publish(message: OutgoingMessage): Promise<void> {
      const sentAt = performance.now()
      if (sentAt < (unboundUntil.get(message.routingKey) ?? 0)) return
      const confirmed = send(message, COPY_CONFIRM_MS).catch((error: unknown) => judge(error, message, sentAt))
      if (sentAt < slowUntil) confirmed.catch(() => {})
      else await confirmed
    },
  }
}
