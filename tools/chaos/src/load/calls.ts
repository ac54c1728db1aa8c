import { setTimeout as sleep } from 'node:timers/promises'
import type { AcceptedCall } from '../reconcile/observation.ts'
import type { Client, Reply } from './client.ts'

export const AGENTS = 60
const EVERY_MS = 900
const TRIES = 8
const REPEAT_MS = 250
/** Then the simulated customer hangs up, which ends calls that we cannot control. */
const PATIENCE_SECONDS = 5
/** The simulator's busy number. */
const BUSY = '+15550101'

/**
 * A continuous load of calls: agents dial, are called, answer and hang up. Returns the calls that the api has accepted.
 * @param isReported resolves to true once a webhook has reported the call; applications act on it only then
 */
export function startCalls(
  client: Client,
  isReported: (call: { readonly callId: string; readonly agentUri: string }) => Promise<boolean>,
) {
  const accepted: AcceptedCall[] = []
  const underWay = new Set<Promise<unknown>>()
  let next = 0

  /** Repeats the request while the api does not answer or answers 503. */
  async function sendUntilAnswered(path: string, body: object): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      const reply = await client.request('POST', path, body)
      if ((reply.status !== 0 && reply.status !== 503) || tries === TRIES) return reply
      await sleep(REPEAT_MS)
    }
  }

  async function receiveCall(agentUri: string): Promise<void> {
    const seconds = { ringForSeconds: PATIENCE_SECONDS, talkForSeconds: PATIENCE_SECONDS }
    const rings = await client.request('POST', '/simulator/v1/calls', { agentUri, from: '+15559000', ...seconds })
    if (rings.status !== 202) return
    const call = { callId: String(rings.body['callId']), agentUri, atMs: Date.now() }
    accepted.push(call)
    if (!(await isReported(call))) return
    await sendUntilAnswered(`/api/v1/voice/calls/${call.callId}/answer`, { agentUri })
    await sleep(400)
    await sendUntilAnswered(`/api/v1/voice/calls/${call.callId}/hangup`, { agentUri })
  }

  async function dial(agentUri: string): Promise<void> {
    const { status, body } = await client.request('POST', '/api/v1/voice/calls/dial', { agentUri, destination: BUSY })
    if (status === 202) accepted.push({ callId: String(body['callId']), agentUri, atMs: Date.now() })
  }

  const timer = setInterval(() => {
    next = (next + 1) % AGENTS
    const agentUri = `sip:agent-${next + 1}@acme.example`
    const call = (next % 2 === 0 ? receiveCall(agentUri) : dial(agentUri)).finally(() => underWay.delete(call))
    underWay.add(call)
  }, EVERY_MS)

  return {
    accepted,
    /** Makes no new calls. Resolves when the open calls have ended, or when we have tried to end them. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}
