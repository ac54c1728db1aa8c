import type { CallId } from '@switchhook/contracts'
import {
  type DialCommand,
  type FactListener,
  type LegCommand,
  type Platform,
  PlatformUnavailable,
  type ProvisionedAgent,
} from '../platform.ts'
import { Alarm } from './alarm.ts'
import { type Cue, play, type SimulatedCall } from './simulated-call.ts'

/** A cue that is due, with the lease under which it is played. */
export interface DueCue {
  readonly id: string
  readonly tenant: string | null
  readonly payload: unknown
}

/** A versioned record; version 0 says that there is none. */
export interface StoredCall {
  readonly version: number
  readonly value: SimulatedCall | null
}

/** What the simulator needs of the world: a memory that survives it, and durable timers in the same atomic step. */
export interface SimulatorDeps {
  readonly agents: readonly ProvisionedAgent[]
  readonly load: (tenant: string | null, callId: CallId) => Promise<StoredCall>
  /** Stores the call and sets the timer, both or neither; `conflict` if the call has another version by now. */
  readonly save: (
    call: SimulatedCall,
    expectedVersion: number,
    timer: { readonly id: string; readonly dueInMs: number; readonly payload: unknown } | null,
  ) => Promise<'committed' | 'conflict'>
  /** Takes due timers under a lease: what is not done by its end falls due again, here or elsewhere. */
  readonly claimDue: (max: number) => Promise<readonly DueCue[]>
  readonly done: (cues: readonly DueCue[]) => Promise<void>
  readonly onError: (message: string, error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** How often we look for timers that another process has set and cannot play any more. Our own wake us by themselves. */
const LOOK_AROUND_MS = 500
const MAX_CUES_AT_ONCE = 50
/** The store's clock decides what is due; ours may run a little ahead. */
const CLOCK_SLACK_MS = 5

interface CuePayload {
  readonly callId: CallId
  readonly cue: Cue
}

/**
 * A working contact center for people who build against the API. All it knows is in the store it is given, so calls go
 * on after a restart, and any number of replicas play them together.
 */
export function createSimulator(deps: SimulatorDeps): Platform {
  const agents = new Map(deps.agents.map((agent) => [agentKey(agent.tenant, agent.agentUri), agent]))
  const alarm = new Alarm()
  const state = { isRunning: false }
  let listener: FactListener | undefined
  let loop: Promise<void> = Promise.resolve()

  const findAgent = (tenant: string | null, agentUri: string): ProvisionedAgent | undefined =>
    agents.get(agentKey(tenant, agentUri))

  /** Applies a cue until it is stored. The facts are told first: told twice they do no harm, never told they are lost. */
  async function apply(tenant: string | null, callId: CallId, cue: Cue): Promise<void> {
    for (;;) {
      const { version, value } = await deps.load(tenant, callId)
      if (value === null) return
      const step = play(value, cue, new Date(deps.now()).toISOString())
      if (step.facts.length === 0 && step.next === null) return
      for (const fact of step.facts) await listener?.(fact)
      const timer = step.next && { ...timerFor(callId, step.next.cue), dueInMs: step.next.afterMs }
      if ((await deps.save(step.call, version, timer)) === 'committed') {
        if (timer !== null) alarm.ringIn(timer.dueInMs + CLOCK_SLACK_MS)
        return
      }
    }
  }

  /** Plays what is due. A cue that fails stays under its lease, and falls due again at its end. */
  async function playDue(): Promise<number> {
    const due = await deps.claimDue(MAX_CUES_AT_ONCE)
    const played = await Promise.allSettled(
      due.map(async (timer) => {
        const { callId, cue } = timer.payload as CuePayload
        await apply(timer.tenant, callId, cue)
        await deps.done([timer])
      }),
    )
    const failed = played.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return due.length
  }

  async function run(): Promise<void> {
    while (state.isRunning) {
      const played = await playDue().catch((error: unknown) => {
        deps.onError('simulator cannot play its timers, will try again', error)
        return 0
      })
      if (played === 0) await alarm.sleep(LOOK_AROUND_MS)
    }
  }

  /** Records a cue of its own call at once, as a timer that is due now: it survives us from here on. */
  async function enqueue(call: SimulatedCall, expectedVersion: number, cue: Cue): Promise<'committed' | 'conflict'> {
    const result = await deps.save(call, expectedVersion, { ...timerFor(call.callId, cue), dueInMs: 0 })
    if (result === 'committed') alarm.ring()
    return result
  }

  /** A save that failed may have happened all the same; only a call that is certainly not there was not dialled. */
  async function settleDoubt({ tenant, callId }: SimulatedCall, cause: unknown): Promise<void> {
    const stored = await deps.load(tenant, callId).catch(() => undefined)
    if (stored?.version === 0) throw new PlatformUnavailable('the simulator has no memory to dial with', { cause })
  }

  return {
    async start(factListener) {
      listener = factListener
      state.isRunning = true
      loop = run()
    },
    async stop() {
      state.isRunning = false
      alarm.silence()
      await loop
    },
    findAgent: async (tenant, agentUri) => findAgent(tenant, agentUri),
    async dial(command: DialCommand) {
      const { tenant, callId, commandId, agentUri: caller, destination, cli } = command
      const callee = destination === caller ? undefined : findAgent(tenant, destination)
      const call: SimulatedCall = {
        tenant,
        callId,
        commandId,
        caller,
        callerDevice: findAgent(tenant, caller)?.device ?? null,
        destination,
        callee: callee === undefined ? null : { agentUri: callee.agentUri, device: callee.device ?? null },
        cli,
        phase: 'dialled',
      }
      // A conflict says that this callId has been dialled before: the same call.
      await enqueue(call, 0, { kind: 'seize' }).catch((cause: unknown) => settleDoubt(call, cause))
    },
    async hangup({ tenant, callId, agentUri, commandId }: LegCommand) {
      const cue: Cue = { kind: 'agent-hangup', agentUri, commandId }
      for (;;) {
        const { version, value } = await deps.load(tenant, callId)
        if (value === null || value.phase === 'over') return
        if ((await enqueue(value, version, cue)) === 'committed') return
      }
    },
  }
}

const agentKey = (tenant: string | null, agentUri: string): string => JSON.stringify([tenant, agentUri])

/** One timer per call and kind of cue: setting it again moves it. */
function timerFor(callId: CallId, cue: Cue): { readonly id: string; readonly payload: CuePayload } {
  return { id: `${callId}:${cue.kind}`, payload: { callId, cue } }
}
