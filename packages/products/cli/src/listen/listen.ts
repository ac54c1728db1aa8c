import { setTimeout as wait } from 'node:timers/promises'
import { type Client, NoAnswer, type Schemas, SignInFailed, SwitchhookError } from '@switchhook/client'
import { deliveries, moment } from '../output/words.ts'
import { type ForwardOutcome, forward, untilListening } from './forward.ts'

type Received = Schemas['ReceivedDelivery']
type Reported = Schemas['ReportedOutcome']
type Result = Schemas['OutcomeResult']

export interface ListenOptions {
  readonly client: Client
  readonly subscriptionId: string
  /** Where deliveries are POSTed; undefined: each one is only shown, and acknowledged. */
  readonly target: URL | undefined
  readonly note: (text: string) => void
  readonly onResult: (delivery: Received, outcome: Reported, result: Result) => void
}

const LEASE_SECONDS = 30
const LEASE_MS = LEASE_SECONDS * 1_000
/** Deliveries that are handled at the same time. */
const AT_ONCE = 10
const RETRY_MS = 1_000
const ACKNOWLEDGED: ForwardOutcome = { status: 200, durationMs: 0 }

/** Receives, handles and reports until it is stopped or refused. @throws SwitchhookError, SignInFailed */
export async function listen({ client, subscriptionId, target, note, onResult }: ListenOptions): Promise<never> {
  const handling = new Set<Promise<void>>()
  let waitSeconds = 0
  let refused: Promise<void> | undefined
  let failure: unknown

  /** Repeats a call while the api or the identity provider does not answer. */
  async function persist<T>(call: () => Promise<T>, untilMs = Infinity): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await call()
        if (tries > 0) note('Connected again.')
        return answer
      } catch (error) {
        if (!isPassing(error) || Date.now() > untilMs) throw error
        // A refusal, such as of a fifth client, says why.
        const why = error instanceof NoAnswer ? 'No answer from Switchhook.' : error.message
        if (tries === 0) note(`${why} Trying again.`)
        await wait(RETRY_MS)
      }
    }
  }

  async function handleOne(delivery: Received, receivedAtMs: number): Promise<void> {
    const { deliveryId, leaseToken } = delivery
    const endsAtMs = receivedAtMs + LEASE_MS
    const outcome = { deliveryId, leaseToken, ...(target ? await forward(target, delivery) : ACKNOWLEDGED) }
    if (target && outcome.release) refused ??= untilReady(target)
    const { items } = await persist(() => client.subscriptions.report(subscriptionId, { items: [outcome] }), endsAtMs)
    const [result] = items
    if (result !== undefined) onResult(delivery, outcome, result)
  }

  async function untilReady(target: URL): Promise<void> {
    note(`Nothing listens at ${target.host}: deliveries wait, and no attempt is counted.`)
    await untilListening(target)
    note(`${target.host} listens again.`)
    refused = undefined
  }

  for (;;) {
    await refused
    if (failure !== undefined) throw failure
    const max = AT_ONCE - handling.size
    const received = await persist(() =>
      client.subscriptions.receive(subscriptionId, { max, waitSeconds, leaseSeconds: LEASE_SECONDS }),
    )
    const receivedAtMs = Date.now()
    const waiting = received.items.length + received.held
    if (waitSeconds === 0 && waiting > 0)
      note(`${deliveries(waiting)} waiting, since ${moment(oldestOf(received))}; the oldest come first.`)
    waitSeconds = 20
    for (const delivery of received.items) {
      const one: Promise<void> = handleOne(delivery, receivedAtMs)
        .catch((error: unknown) => {
          // Reported too late: the delivery comes again.
          if (!isPassing(error)) failure ??= error
        })
        .finally(() => handling.delete(one))
      handling.add(one)
    }
    // The first that ends; none of them rejects.
    if (handling.size === AT_ONCE) await Promise.any(handling)
  }
}

/** The api or the identity provider is away, starts, or is busy: as after the sleep of a machine, whose token has expired. */
const isPassing = (error: unknown): error is NoAnswer | SignInFailed | SwitchhookError =>
  error instanceof NoAnswer ||
  ((error instanceof SwitchhookError || error instanceof SignInFailed) &&
    (error.status === undefined || error.status >= 500 || error.status === 429))

/** Since when the oldest of the backlog is due. Its own events say when they occurred. */
function oldestOf({ items: [first], oldestHeldAt }: Schemas['Received']): string | null {
  if (first === undefined) return oldestHeldAt
  const { occurredAt } = JSON.parse(first.body) as { readonly occurredAt?: string }
  return occurredAt ?? oldestHeldAt
}
