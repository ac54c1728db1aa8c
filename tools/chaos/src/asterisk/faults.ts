import { setTimeout as sleep } from 'node:timers/promises'
import type { Person } from '@switchhook/local'
import type { Random } from '../faults/random.ts'
import type { Disturbance } from '../reconcile/observation.ts'
import type { AsteriskStack } from './asterisk-stack.ts'
import type { Desk } from './desk.ts'

interface Around {
  readonly stack: AsteriskStack
  readonly desk: Desk
  readonly people: readonly Person[]
  readonly random: Random
  /** When Asterisk was killed. */
  readonly killsAtMs: number[]
}

/** The faults of `make chaos PLATFORM=asterisk`. Each resolves when its cause is gone again. */
const FAULTS: Readonly<Record<string, (around: Around) => Promise<void>>> = {
  /** An api replica is killed and started again; it may be the one that receives the events. */
  api: async ({ stack, random }) => {
    const name = random.pick(['api-1', 'api-2'])
    await stack.end(name, 'SIGKILL')
    await sleep(random.between(0, 3_000))
    await stack.restore(name)
  },
  /** Every connection between api and Asterisk is reset, and new ones too, for some seconds. */
  link: async ({ stack, random }) => {
    stack.link.refuse()
    await sleep(random.between(200, 6_000))
    stack.link.accept()
  },
  /** The connections stay open and pass no byte, for longer than the heartbeat of the event stream at times. */
  freeze: async ({ stack, random }) => {
    stack.link.freeze()
    await sleep(random.between(1_000, 14_000))
    stack.link.thaw()
  },
  kill: async ({ stack, random, killsAtMs }) => {
    await stack.pbx.end('asterisk', 'SIGKILL')
    killsAtMs.push(Date.now())
    await sleep(random.between(0, 2_000))
    await stack.pbx.restore()
  },
  stop: async ({ stack, killsAtMs }) => {
    await stack.pbx.end('asterisk', 'SIGTERM')
    killsAtMs.push(Date.now())
    await stack.pbx.restore()
  },
  /** The cable of a phone is pulled, mostly during a call. */
  phone: async ({ desk, people, random }) => {
    const { name } = random.pick(people)
    await desk.telephone('POST', `/phones/${name}/unplug`)
    await sleep(random.between(200, 5_000))
    await desk.telephone('POST', `/phones/${name}/plug`)
  },
}

export const ASTERISK_FAULTS = Object.keys(FAULTS)

/** Reconciliation after a fault takes one reconnect, and calls that are too young then are compared again. */
const RECOVERS_WITHIN_MS = 12_000
const QUIET_MS = 4_000

/** Applies one fault after the other, until `signal` aborts. Resolves to the times of the disturbances. */
export async function disturb(
  around: Around,
  count: number,
  kinds: readonly string[],
  signal: AbortSignal,
): Promise<readonly Disturbance[]> {
  const disturbances: Disturbance[] = []
  for (let at = 1; at <= count && !signal.aborted; at++) {
    // Every kind comes before any kind comes again by chance.
    const kind = kinds[at - 1] ?? around.random.pick(kinds)
    const fromMs = Date.now()
    await FAULTS[kind]?.(around)
    const tookMs = Date.now() - fromMs
    console.log(`  ${String(at).padStart(3)}/${count}  ${kind.padEnd(7)} ${(tookMs / 1_000).toFixed(1)} s`)
    await sleep(RECOVERS_WITHIN_MS)
    disturbances.push({ fromMs, toMs: Date.now() })
    await sleep(QUIET_MS)
  }
  return disturbances
}
