import type { BrokerMeter } from '../meters.ts'
import { type PublishMode, unavailable } from './publish-mode.ts'

const COPY_CONFIRM_MS = 1_000
/** After an unconfirmed copy, copies are sent without waiting for their confirms for this long. */
const COPIES_SLOW_MS = 10_000
/** After a copy that no queue accepted, the next copy with its routing key is sent this long afterwards. */
const UNBOUND_MS = 1_000
/** amqplib's error message for a negative confirm. A closed channel has a different one. */
const NACKED = 'message nacked'

/**
 * How copies for other systems are published. Their queues must not delay the original, so a copy also resolves when such a
 * queue refuses it or does not confirm it in time. Without such a queue, one copy a second is sent.
 */
export class EventCopies {
  readonly #meter: Pick<BrokerMeter, 'failed'>
  readonly #awaited = this.#mode(COPY_CONFIRM_MS)
  /** Copies that do not wait for their confirms. */
  readonly #hurried = this.#mode(0)
  /** By routing key: until when no copies are sent, because no other system has bound a queue. */
  readonly #unboundUntil = new Map<string, number>()
  #slowUntil = 0

  constructor(meter: Pick<BrokerMeter, 'failed'>) {
    this.#meter = meter
  }

  modes(): readonly PublishMode[] {
    return [this.#awaited, this.#hurried]
  }

  /** Undefined: no copy with this routing key is to be sent now. */
  modeFor(routingKey: string): PublishMode | undefined {
    const now = performance.now()
    if (now < (this.#unboundUntil.get(routingKey) ?? 0)) return undefined
    return now < this.#slowUntil ? this.#hurried : this.#awaited
  }

  /** The next copy of every type is sent. */
  connected(): void {
    this.#unboundUntil.clear()
  }

  #mode(timeoutMs: number): PublishMode {
    return {
      // The broker returns a copy that reaches no queue. A copy that is not awaited cannot be matched with its return.
      mandatory: timeoutMs > 0,
      timeoutMs,
      inFlight: new Set(),
      timedOut: (pending) => {
        const now = performance.now()
        if (now >= this.#slowUntil) {
          this.#slowUntil = now + COPIES_SLOW_MS
          this.#meter.failed('copy')
        }
        pending.resolve()
      },
      notSent: () => {},
      refused: (pending, cause) => {
        if (cause.message !== NACKED) return pending.reject(unavailable(cause))
        this.#meter.failed('copy')
        pending.resolve()
      },
      confirmed: ({ routingKey, sentAt, wasReturned, resolve }) => {
        if (wasReturned) this.#unboundUntil.set(routingKey, sentAt + UNBOUND_MS)
        resolve()
      },
    }
  }
}
