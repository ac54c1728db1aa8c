import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { CallState, type Client, SwitchhookError } from '@switchhook/client'
import { waitUntil } from '@switchhook/test-servers'
import type { Subscriber } from '../demo/subscriber.ts'
import { verify } from '../demo/verify.ts'

/** Enough agents for each to finish a call before its next one. */
export const LOAD_AGENTS = { agentUri: 'sip:load-{n}@acme.example', tenant: 'acme', count: 200 }
/** Each call causes two webhooks. */
const CALLS_PER_SECOND = 40
const BUSY_NUMBER = '+15550101'

/** Makes calls continuously. A command without an answer is repeated with its idempotency key. */
export function startLoad(client: Client, subscriber: Subscriber, path: string) {
  const callIds: string[] = []
  const underWay = new Set<Promise<void>>()
  const events = (): readonly CallEvent[] => subscriber.arrivals(path).map(({ envelope }) => envelope)
  const check = () => checkCalls(callIds, events())

  /** Makes one call. It is refused if the agent is still in a call that an outage has delayed. */
  async function call(agentUri: string): Promise<void> {
    const idempotencyKey = randomUUID()
    for (;;) {
      try {
        const { callId } = await client.calls.dial({ agentUri, destination: BUSY_NUMBER }, { idempotencyKey })
        return void callIds.push(callId)
      } catch (error) {
        if (error instanceof SwitchhookError && error.status === 409 && error.code !== 'idempotency-key-in-use') return
        await pause(200)
      }
    }
  }

  let agent = 0
  const timer = setInterval(() => {
    agent = (agent % LOAD_AGENTS.count) + 1
    const calling = call(`sip:load-${agent}@acme.example`).finally(() => underWay.delete(calling))
    underWay.add(calling)
  }, 1_000 / CALLS_PER_SECOND)

  return {
    /** Stops making calls if a step has failed before their end. */
    [Symbol.dispose]: () => clearInterval(timer),
    /** Stops making calls and checks the webhooks of the accepted ones. */
    end: async () => {
      clearInterval(timer)
      const answered = waitUntil(() => underWay.size === 0, 60_000)
      verify(await answered, `every command is answered (${underWay.size} are not)`)
      await waitUntil(() => check().unfinished === 0, 60_000, 250)
      const { unfinished, ...webhooks } = check()
      verify(
        unfinished === 0,
        `all webhooks of every accepted call arrive (of ${callIds.length}, ${unfinished} are not)`,
      )
      return { calls: callIds.length, ...webhooks }
    },
  }
}

/** A `call.status` event that an endpoint received. */
export interface CallEvent {
  readonly deliveryId: string
  readonly data: { readonly callId: string; readonly sequence: number; readonly state: number }
}

/** Checks that the events of every accepted call have arrived. */
export function checkCalls(callIds: readonly string[], events: readonly CallEvent[]) {
  const byCall = Map.groupBy(events, ({ data }) => data.callId)
  const isComplete = (callId: string): boolean => {
    const states = new Map(byCall.get(callId)?.map(({ data: { sequence, state } }) => [sequence, state]))
    // Without a gap, the last sequence number equals the number of states.
    return states.get(states.size) === CallState.ended
  }
  const webhooks = new Set(events.map(({ deliveryId }) => deliveryId)).size
  return {
    /** Calls with a missing event: their sequence has a gap, or their end was not reported. */
    unfinished: callIds.filter((callId) => !isComplete(callId)).length,
    webhooks,
    /** Webhooks that arrived again, as at-least-once delivery allows. */
    twice: events.length - webhooks,
  }
}
