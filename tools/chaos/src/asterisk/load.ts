import { setTimeout as sleep } from 'node:timers/promises'
import { CallState } from '@switchhook/contracts'
import type { Person } from '@switchhook/local'
import type { Random } from '../faults/random.ts'
import type { Desk } from './desk.ts'

const ANSWERS = '+15550100'
/** Busy, a number that does not exist, and a trunk that refuses. */
const FAILING = ['+15550101', '+15550103', '+15550104'] as const
const { alerting: ALERTING, connected: CONNECTED, held: HELD, proceeding: PROCEEDING } = CallState
const REACTS_WITHIN_MS = 8_000
/** Reconciliation runs every 30 s. */
const GIVES_UP_AFTER_MS = 45_000
const PAUSE_MS = 200

/** Every agent is in one call after the other: dials, is called, holds, resumes, and one of the two sides hangs up. */
export function startAsteriskLoad(desk: Desk, people: readonly Person[], random: Random, talkMs: number) {
  const dialled: { callId: string; agentUri: string }[] = []
  const talking = new Set<string>()
  let talks = 0
  let mostAtOnce = 0
  const stopping = new AbortController()

  const isIn = (callId: string, agentUri: string, state: number) => () => desk.latest(callId, agentUri)?.state === state

  async function receiveCall({ agentUri, extension, name }: Person): Promise<void> {
    const before = new Set(desk.live(agentUri))
    const far = (await desk.telephone('POST', '/calls', { number: extension, from: '+15559000' }))?.id
    const arrived = (): string | undefined => desk.live(agentUri).find((callId) => !before.has(callId))
    if (far === undefined) return
    await desk.until(() => arrived() !== undefined, REACTS_WITHIN_MS)
    const callId = arrived()
    if (callId !== undefined && (await desk.until(isIn(callId, agentUri, ALERTING), REACTS_WITHIN_MS))) {
      await desk.command(`${callId}/answer`, { agentUri })
      await talk(callId, agentUri)
    }
    if (random.next() < 0.5) await desk.telephone('POST', `/phones/${name}/hangup`)
    await desk.telephone('DELETE', `/calls/${far}`)
  }

  async function dial({ agentUri }: Person): Promise<void> {
    const destination = random.next() < 0.7 ? ANSWERS : random.pick(FAILING)
    const { status, body } = await desk.command('dial', { agentUri, destination })
    if (status !== 202) return
    const callId = String(body['callId'])
    dialled.push({ callId, agentUri })
    await talk(callId, agentUri)
    if (desk.live(agentUri).includes(callId)) await desk.command(`${callId}/hangup`, { agentUri })
  }

  async function talk(callId: string, agentUri: string): Promise<void> {
    const isOver = (): boolean => {
      const event = desk.latest(callId, agentUri)
      return event !== undefined && (event.state === CONNECTED || event.state > HELD)
    }
    await desk.until(() => isOver() && !isIn(callId, agentUri, PROCEEDING)(), REACTS_WITHIN_MS)
    if (!isIn(callId, agentUri, CONNECTED)()) return
    talks += 1
    talking.add(agentUri)
    mostAtOnce = Math.max(mostAtOnce, talking.size)
    await sleep(talkMs / 2)
    if (random.next() < 0.5) {
      await desk.command(`${callId}/hold`, { agentUri })
      await desk.until(isIn(callId, agentUri, HELD), REACTS_WITHIN_MS)
      await desk.command(`${callId}/resume`, { agentUri })
      await desk.until(isIn(callId, agentUri, CONNECTED), REACTS_WITHIN_MS)
    }
    await sleep(talkMs / 2)
    talking.delete(agentUri)
  }

  async function work(person: Person): Promise<void> {
    await sleep(random.between(0, 1_000))
    while (!stopping.signal.aborted) {
      await (random.next() < 0.5 ? receiveCall(person) : dial(person))
      // A call that can no longer be ended is left to the comparison with Asterisk.
      await desk.until(() => desk.live(person.agentUri).length === 0, GIVES_UP_AFTER_MS)
      for (const callId of desk.live(person.agentUri)) {
        await desk.command(`${callId}/hangup`, { agentUri: person.agentUri })
      }
      await sleep(PAUSE_MS)
    }
  }

  const working = Promise.all(people.map(work))
  return {
    /** The calls whose dial was accepted. */
    dialled,
    /** Calls that were connected. */
    talks: () => talks,
    /** The most agents who were in a connected call at the same time. */
    mostAtOnce: () => mostAtOnce,
    /** Makes no new calls. Resolves when the open calls have ended, or when they cannot be ended. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await working
    },
  }
}
