import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from './client.ts'

/** Customers who call, are answered and hung up, again and again. */
export interface Calls {
  /** Those that the api has accepted. */
  readonly accepted: readonly { readonly callId: string; readonly agentUri: string }[]
  /** Makes no new calls, and resolves when the present ones are over as far as we can end them. */
  stop(): Promise<void>
}

export const AGENTS = 60
const EVERY_MS = 900
const TRIES = 8
const REPEAT_MS = 250
/** A call that we cannot get hold of ends by itself: the customer loses patience. */
const PATIENCE_SECONDS = 5

export function startCalls(client: Client): Calls {
  const accepted: { callId: string; agentUri: string }[] = []
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

  async function playCall(agentUri: string): Promise<void> {
    const rung = await client.request('POST', '/simulator/v1/calls', {
      agentUri,
      from: '+15559000',
      ringForSeconds: PATIENCE_SECONDS,
      talkForSeconds: PATIENCE_SECONDS,
    })
    if (rung.status !== 202) return
    const callId = String(rung.body['callId'])
    accepted.push({ callId, agentUri })
    await sleep(200)
    await insist(`/api/v1/voice/calls/${callId}/answer`, { agentUri })
    await sleep(400)
    await insist(`/api/v1/voice/calls/${callId}/hangup`, { agentUri })
  }

  const timer = setInterval(() => {
    next = (next + 1) % AGENTS
    const playing = playCall(`sip:agent-${next + 1}@acme.example`).finally(() => underWay.delete(playing))
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
