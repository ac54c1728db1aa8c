import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '@switchhook/backing'
import { claim } from '../demo/claim.ts'
import type { Subscriber } from '../demo/subscriber.ts'
import { judgeCalls, type Verdict } from './check-calls.ts'

/** Who makes the calls: enough agents for each to be out of one call before it is in the next. */
export const LOAD_AGENTS = { agentUri: 'sip:load-{n}@acme.example', tenant: 'acme', count: 200 }
/** At this many calls a second, each with two webhooks. */
const CALLS_PER_SECOND = 40
const BUSY_NUMBER = '+15550101'

export interface Load {
  /** Makes no more calls, and answers what became of those that were accepted. */
  end(): Promise<Omit<Verdict, 'unfinished'> & { readonly calls: number }>
}

/** Calls that go on whatever happens to the service: a command that is not answered is sent again with its key. */
export function startLoad(apiUrl: string, token: string, subscriber: Subscriber, path: string): Load {
  const callIds: string[] = []
  const ending = new AbortController()
  const underWay = new Set<Promise<void>>()

  /** One call, accepted once, or refused because the agent is in one still that an outage has held up. */
  async function call(agentUri: string): Promise<void> {
    const key = randomUUID()
    for (;;) {
      const { status, callId } = await dial(key, agentUri)
      if (callId !== undefined) callIds.push(callId)
      if (callId !== undefined || status === 409) return
      await pause(200)
    }
  }

  /** Status 0: no answer. */
  async function dial(key: string, agentUri: string): Promise<{ readonly status: number; readonly callId?: string }> {
    try {
      const response = await fetch(`${apiUrl}/api/v1/voice/calls/dial`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ agentUri, destination: BUSY_NUMBER }),
        signal: AbortSignal.timeout(10_000),
      })
      const { callId, code } = (await response.json()) as { readonly callId?: string; readonly code?: string }
      // The first request with this key died with its replica: this very call may yet be accepted.
      const status = code === 'idempotency-key-in-use' ? 0 : response.status
      return { status, ...(callId !== undefined && { callId }) }
    } catch {
      return { status: 0 }
    }
  }

  const going = (async () => {
    for (let n = 0; !ending.signal.aborted; n += 1) {
      const calling = call(`sip:load-${(n % LOAD_AGENTS.count) + 1}@acme.example`)
      underWay.add(calling)
      void calling.finally(() => underWay.delete(calling))
      await pause(1_000 / CALLS_PER_SECOND)
    }
  })()

  return {
    end: async () => {
      ending.abort()
      await going
      const answered = waitUntil(() => underWay.size === 0, 60_000)
      claim(await answered, `every command is answered (${underWay.size} are not)`)
      const judge = (): Verdict => judgeCalls(callIds, subscriber.arrivals(path))
      await waitUntil(() => judge().unfinished === 0, 60_000, 250)
      const { unfinished, ...webhooks } = judge()
      claim(unfinished === 0, `every accepted call is told to its end (of ${callIds.length}, ${unfinished} are not)`)
      return { calls: callIds.length, ...webhooks }
    },
  }
}
