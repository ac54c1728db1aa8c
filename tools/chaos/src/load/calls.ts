import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from './client.ts'
import type { AcceptedCall } from './observation.ts'

/** Agents who dial and are called, answer and hang up, again and again. */
export interface Calls {
  /** Those that the api has accepted. */
  readonly accepted: readonly AcceptedCall[]
  /** Makes no new calls, and resolves when the present ones are over as far as we can end them. */
  stop(): Promise<void>
}

export const AGENTS = 60
const EVERY_MS = 900
const TRIES = 8
const REPEAT_MS = 250
/** A call that we cannot get hold of ends by itself: the customer loses patience. */
const PATIENCE_SECONDS = 5
/** Is hung up by the far end, which is busy. */
const BUSY = '+15550101'

/** @param isTold resolves to whether a webhook has told of the call: only then does an application act on it */
export function startCalls(
  client: Client,
  isTold: (call: { readonly callId: string; readonly agentUri: string }) => Promise<boolean>,
): Calls {
  const accepted: AcceptedCall[] = []
  const underWay = new Set<Promise<unknown>>()
  let next = 0

  /** Until it is answered by something that trying again would not change. */
  async function insist(path: string, body: object): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      const reply = await client.request('POST', path, body)
      if ((reply.status !== 0 && reply.status !== 503) || tries === TRIES) return reply
      await sleep(REPEAT_MS)
    }
  }

  async function isCalled(agentUri: string): Promise<void> {
    const seconds = { ringForSeconds: PATIENCE_SECONDS, talkForSeconds: PATIENCE_SECONDS }
    const rung = await client.request('POST', '/simulator/v1/calls', { agentUri, from: '+15559000', ...seconds })
    if (rung.status !== 202) return
    const call = { callId: String(rung.body['callId']), agentUri, atMs: Date.now() }
    accepted.push(call)
    if (!(await isTold(call))) return
    await insist(`/api/v1/voice/calls/${call.callId}/answer`, { agentUri })
    await sleep(400)
    await insist(`/api/v1/voice/calls/${call.callId}/hangup`, { agentUri })
  }

  async function dials(agentUri: string): Promise<void> {
    const { status, body } = await client.request('POST', '/api/v1/voice/calls/dial', { agentUri, destination: BUSY })
    if (status === 202) accepted.push({ callId: String(body['callId']), agentUri, atMs: Date.now() })
  }

  const timer = setInterval(() => {
    next = (next + 1) % AGENTS
    const agentUri = `sip:agent-${next + 1}@acme.example`
    const playing = (next % 2 === 0 ? isCalled(agentUri) : dials(agentUri)).finally(() => underWay.delete(playing))
    underWay.add(playing)
  }, EVERY_MS)

  return {
    accepted,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}
