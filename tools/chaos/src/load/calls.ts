import { setTimeout as sleep } from 'node:timers/promises'
import type { AcceptedCall } from '../reconcile/observation.ts'
import type { Client, Reply } from './client.ts'

export const AGENTS = 60
const EVERY_MS = 900
const TRIES_FOR_MS = 2_000
/** Then the simulated customer hangs up, which ends calls that we cannot control. */
const PATIENCE_SECONDS = 5
/** The simulator's busy number. */
const BUSY = '+15550101'

/**
 * A continuous load of calls: agents dial, are called, answer and hang up. Returns the calls that the api has accepted.
 * @param isReported resolves to true once a webhook has reported the call; applications act on it only then
 */
export function startCalls(client: Client, isReported: (call: AcceptedCall) => Promise<boolean>) {
  const accepted: AcceptedCall[] = []
  const underWay = new Set<Promise<unknown>>()
  let next = 0

  const command = (call: AcceptedCall, name: string): Promise<Reply> =>
    client.persist(TRIES_FOR_MS, 'POST', `/api/v1/voice/calls/${call.callId}/${name}`, { agentUri: call.agentUri })

  async function receiveCall(agentUri: string): Promise<void> {
    const seconds = { ringForSeconds: PATIENCE_SECONDS, talkForSeconds: PATIENCE_SECONDS }
    const rings = await client.request('POST', '/simulator/v1/calls', { agentUri, from: '+15559000', ...seconds })
    if (rings.status !== 202) return
    const call = { callId: String(rings.body['callId']), agentUri, atMs: Date.now() }
    accepted.push(call)
    if (!(await isReported(call))) return
    await command(call, 'answer')
    await sleep(400)
    await command(call, 'hangup')
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
