import { CallState, type CallStatus, newCallId, newCommandId } from '@switchhook/contracts'
import {
  applyReport,
  type CommandOnLeg,
  checkCommand,
  type Leg,
  type Party,
  reportsOfLastStep,
} from '@switchhook/platform'
import fc from 'fast-check'
import type { CommandInput, Input, Refusal } from './input.ts'
import { isLive, type PbxSession } from './session.ts'
import type { LaterInput } from './session-draft.ts'
import { type Stepped, step } from './step.ts'
import {
  ALICE,
  agent,
  BOB,
  beginnings,
  CAROL,
  HOWS,
  inputOf,
  outside,
  START_MS,
  type Wish,
  wish,
} from './testing/random-session.ts'

const keyOf = ({ callId, agentUri }: Pick<CallStatus, 'callId' | 'agentUri'>): string => `${callId} ${agentUri}`

/** A session whose reports become events. */
class Run {
  session: PbxSession
  readonly legs = new Map<string, Leg>()
  readonly events: { readonly step: number; readonly status: CallStatus }[] = []

  constructor(begun: Stepped) {
    this.session = begun.session
    this.#record()
  }

  /** @returns what falls due later */
  on(input: Input): readonly LaterInput[] {
    const before = this.session.group.step
    const { session, later } = step(this.session, input, START_MS + (before + 1) * 3_000)
    this.session = session
    if (session.group.step > before) this.#record()
    return later
  }

  wish(wished: Wish): void {
    const input = inputOf(this.session, wished)
    if (input !== undefined) this.on(input)
  }

  #record(): void {
    const { group } = this.session
    for (const report of reportsOfLastStep(group)) {
      const leg = applyReport(this.legs.get(keyOf(report)), report)
      if (leg === undefined) continue
      this.legs.set(keyOf(report), leg)
      this.events.push({ step: group.step, status: leg.status })
    }
  }
}

interface Asked {
  readonly which: number
  readonly how: (typeof HOWS)[number] | null
  readonly target: Party
  readonly refusal: Refusal | null
  readonly isAttended: boolean
  /** Another call of the agent could not be held first. */
  readonly isInVain: boolean
}

const asked: fc.Arbitrary<Asked> = fc.record({
  which: fc.nat({ max: 11 }),
  how: fc.constantFrom(...HOWS, null),
  target: fc.constantFrom<Party>(agent(ALICE), agent(BOB), agent(CAROL), outside),
  refusal: fc.constantFrom(null, null, 'busy', 'badAddress'),
  isAttended: fc.boolean(),
  isInVain: fc.boolean(),
})

const COMMANDS: readonly CommandOnLeg[] = ['answer', 'hold', 'resume', 'transfer', 'hangup']

/** One of the commands that the api accepts on the legs as their events show them. undefined: there is none. */
function accepted({ legs }: Run, { which, how, target, refusal, isAttended, isInVain }: Asked) {
  const commandId = newCommandId()
  const address = target.kind === 'agent' ? target.agentUri : target.address
  const consultationCallId = isAttended ? newCallId() : null
  const details = {
    commandId,
    target: address,
    remoteAnswer: how !== null,
    ...(consultationCallId && { consultationCallId }),
  }
  const commands = COMMANDS.map((command) =>
    [...legs.values()].flatMap(({ status }): CommandInput[] => {
      const check = checkCommand(command, status, details)
      if (check.kind !== 'send') return []
      const base = { callId: status.callId, agentUri: status.agentUri, commandId, how }
      if (check.as !== 'transfer') {
        return [{ ...base, kind: check.as, ...((command === 'answer' || command === 'resume') && { isInVain }) }]
      }
      const to = { ...target, asked: address, refusal }
      return [{ ...base, kind: 'transfer', correlationId: null, consultationCallId, target: to }]
    }),
  )
  const possible = commands.filter(({ length }) => length > 0)
  const ofKind = possible[which % Math.max(possible.length, 1)] ?? []
  return ofKind[which % Math.max(ofKind.length, 1)]
}

/** What the leg must show, if the event has no `commandResult`. Absent: the event itself is enough. */
const PROMISED: Partial<Record<CommandInput['kind'], readonly CallState[]>> = {
  answer: [CallState.connected, CallState.held],
  hold: [CallState.held],
  resume: [CallState.connected],
}

/** The steps whose events say what became of the command. */
function conclusions({ events }: Run, { kind, commandId, agentUri }: CommandInput): number {
  const isConclusion = ({ commandResult, state }: CallStatus): boolean =>
    commandResult !== null || (PROMISED[kind]?.includes(state) ?? true)
  const own = events.filter(({ status }) => status.agentUri === agentUri && status.commandId === commandId)
  return new Set(own.filter(({ status }) => isConclusion(status)).map((event) => event.step)).size
}

/** How far a call is before anything else happens to it. */
const STAGES = ['new', 'rings', 'talks', 'talks, and the phones hold'] as const

function reach(run: Run, stage: (typeof STAGES)[number]): void {
  const all = (input: (channelId: string) => Input): void => {
    for (const { id } of run.session.channels.filter(isLive)) run.on(input(id))
  }
  if (stage === 'new') return
  all((channelId) => ({ kind: 'ringing', channelId }))
  if (stage === 'rings') return
  // The called party is called once the caller has answered.
  for (let round = 0; round < 2; round += 1) all((channelId) => ({ kind: 'ready', channelId, isUp: true }))
  if (stage !== 'talks') all((channelId) => ({ kind: 'phone-holds', channelId }))
}

const wishes = (maxLength: number) => fc.array(wish, { maxLength })

test('an accepted command ends in exactly one event that says what became of it, unless its leg has ended', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...beginnings),
      fc.constantFrom(...STAGES),
      wishes(8),
      asked,
      wishes(1),
      wishes(3),
      (begin, stage, before, what, crossing, after) => {
        const run = new Run(begin())
        reach(run, stage)
        for (const one of before) run.wish(one)
        // The second time, the result may be that of the first.
        for (let times = 0; times < 2; times += 1) {
          const command = accepted(run, what)
          fc.pre(times > 0 || command !== undefined)
          if (command === undefined) return
          for (const one of crossing) run.wish(one)
          const due = run.on(command)
          for (const one of after) run.wish(one)
          for (const { input } of due) run.on(input)
          const hasEnded = run.legs.get(keyOf(command))?.status.state === CallState.ended
          const allowed = hasEnded ? [0, 1] : [1]
          expect(allowed).toContain(conclusions(run, command))
        }
      },
    ),
    { numRuns: 1_000 },
  )
})
