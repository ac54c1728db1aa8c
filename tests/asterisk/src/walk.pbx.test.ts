import { setTimeout as pause } from 'node:timers/promises'
import { type CallId, CallState, newCallId } from '@switchhook/contracts'
import { describeWithAsterisk } from './asterisk-lab.ts'
import { People } from './people.ts'

/** `WALK_SECONDS=600 WALK_SEED=7` before the command walks for ten minutes, with the choices of this seed. */
const SECONDS = Number(process.env['WALK_SECONDS'] ?? 20)
const SEED = Number(process.env['WALK_SEED'] ?? Date.now() % 1_000_000)
const ALONE_AT_MOST_MS = 1_000
const LOOK_EVERY_MS = 50
/** Of the time between two looks. */
const COUNTED_AT_MOST_MS = 2 * LOOK_EVERY_MS
const STEP_MS = 120
const NAMES = ['alice', 'bob', 'carol'] as const
const NUMBERS = ['8101', '8102', '8103', '+15550100', '+15550101', '+15550102', '+15550103', '+15550106']

const { alerting, connected, held } = CallState

/** Numbers from 0 to below 1 (mulberry32). */
function numbersOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

describeWithAsterisk('a random walk of agents, phones and customers', (lab) => {
  const people = new People(lab)
  beforeEach(() => people.open())
  afterEach(() => people.close())

  test(
    `leaves no customer without a partner, ringing or music (seed ${SEED})`,
    async () => {
      const random = numbersOf(SEED)
      const pick = <T>(all: readonly T[]): T => {
        const one = all[Math.floor(random() * all.length)]
        if (one === undefined) throw new Error('there is nothing to choose from')
        return one
      }
      const { platform } = people.on
      const uriOf = (name: string): string => `sip:${name}@acme.example`
      const log: string[] = []

      /** One action, which may not fit the moment. */
      async function act(): Promise<void> {
        const name = pick(NAMES)
        const agentUri = uriOf(name)
        const number = pick(NUMBERS)
        const legs = people.observer.liveLegs(agentUri)
        const leg = legs.length === 0 ? undefined : pick(legs)
        const command = leg && people.leg(leg.callId, agentUri)
        const others = legs.filter((one) => one !== leg && one.state === connected).map(({ callId }) => callId)
        const customers = (await lab().world().channels()).filter(({ state }) => state === 'Up')
        const transfer = (consultationCallId: CallId | null) =>
          command && platform.transfer({ ...command, target: number, correlationId: null, consultationCallId })
        const dial = { destination: number, cli: null, correlationId: null }
        const phone = people.phone(name)
        const all: Readonly<Record<string, () => unknown>> = {
          'customer calls': () =>
            lab()
              .world()
              .call(pick(['8101', '8102', '8103']), '+15559000'),
          'customer calls too': () =>
            lab()
              .world()
              .call(pick(['8101', '8102', '8103']), '+15559001'),
          'customer hangs up': () => lab().world().hangup(pick(customers).id),
          'customer holds': () =>
            lab()
              .world()
              .hold(pick(customers).id, random() < 0.5),
          dial: () => legs.length === 0 && platform.dial({ ...people.leg(newCallId(), agentUri), ...dial }),
          answer: () => leg?.state === alerting && command && platform.answer({ ...command, holdFirst: others }),
          hangup: () => command && platform.hangup(command),
          hold: () => command && platform.hold(command),
          resume: () => leg?.state === held && command && platform.resume({ ...command, holdFirst: others }),
          'blind transfer': () => transfer(null),
          'attended transfer': () => transfer(newCallId()),
          'complete transfer': () => command && platform.completeTransfer({ ...command, correlationId: null }),
          'phone answers': () => phone.answer(),
          'phone answers too': () => phone.answer(),
          'phone declines': () => phone.decline(),
          'phone holds': () => phone.hold(random() < 0.5),
          'phone hangs up': () => phone.hangup(),
          'phone dials': () => phone.dial(number),
          'phone transfers': () => phone.transfer(number),
          'phone joins its calls': () => phone.joinCalls(),
          'phone is unplugged': () => random() < 0.2 && phone.die(),
          'phone is plugged in': () => !phone.isRegistered && phone.register(),
        }
        const what = pick(Object.keys(all))
        log.push(`${new Date().toISOString()} ${name}: ${what} ${number} ${leg?.callId ?? ''}`)
        await all[what]?.()
      }

      /** The outside parties whose call is up, and who neither talk nor hear music. */
      async function alone(): Promise<readonly string[]> {
        const { channels, bridges } = await lab().calls()
        const served = new Set(
          bridges.flatMap(({ bridge_type: type, channels: ids }) => (type === 'holding' || ids.length > 1 ? ids : [])),
        )
        return channels
          .filter(({ id, name, state }) => name.startsWith('PJSIP/pstn-') && state === 'Up' && !served.has(id))
          .map(({ id }) => id)
      }

      const endMs = Date.now() + SECONDS * 1_000
      const aloneForMs = new Map<string, number>()
      const watch = (async () => {
        for (let lookedMs = Date.now(); Date.now() < endMs; await pause(LOOK_EVERY_MS)) {
          const now = new Set(await alone())
          // The adapter runs in this process: while the machine stalls both, nobody is late.
          const passedMs = Math.min(Date.now() - lookedMs, COUNTED_AT_MOST_MS)
          lookedMs = Date.now()
          for (const id of aloneForMs.keys()) if (!now.has(id)) aloneForMs.delete(id)
          for (const id of now) {
            const aloneMs = aloneForMs.get(id)
            aloneForMs.set(id, aloneMs === undefined ? 0 : aloneMs + passedMs)
            if (aloneMs !== undefined && aloneMs > ALONE_AT_MOST_MS) {
              throw new Error(`the outside party on channel ${id} is alone:\n${log.slice(-40).join('\n')}`)
            }
          }
        }
      })()
      const walk = (async () => {
        for (; Date.now() < endMs; await pause(STEP_MS)) await act().catch(() => {})
      })()
      await Promise.all([watch, walk])

      for (const name of NAMES) people.phone(name).die()
      await people.on.until(() => NAMES.every((name) => people.observer.liveLegs(uriOf(name)).length === 0))
      // A customer without an agent talks with another outside party, or the call has ended.
      await people.on.until(async () => (await lab().whoHears()).waiting.length === 0 && (await alone()).length === 0)
      for (const { id } of await lab().world().channels())
        await lab()
          .world()
          .hangup(id)
          .catch(() => {})
      await people.on.until(async () => (await lab().leftovers()) === 0)
    },
    (SECONDS + 60) * 1_000,
  )
})
