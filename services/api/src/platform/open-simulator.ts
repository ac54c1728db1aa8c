import { createSimulator, type Platform, type ProvisionedAgent, type SimulatedCall } from '@switchhook/platform'
import type { Logger } from '@switchhook/runtime'
import type { DueTimer, StateStore, TimerStore } from '@switchhook/store'

/** A replica that dies while it plays a cue is replaced by another after so long. */
const LEASE_MS = 5_000

/** The simulated contact center, with its memory and its clock in the store. */
export function openSimulator(deps: {
  readonly agents: readonly ProvisionedAgent[]
  readonly store: StateStore
  readonly timers: TimerStore
  readonly log: Logger
}): Platform {
  const { agents, store, timers, log } = deps
  return createSimulator({
    agents,
    async load(tenant, callId) {
      const [record] = await store.read(tenant, [keyOf(callId)])
      return { version: record?.version ?? 0, value: (record?.value as SimulatedCall | undefined) ?? null }
    },
    save: (call, expectedVersion, timer) =>
      store.commit(call.tenant, {
        records: [{ key: keyOf(call.callId), expectedVersion, value: call, ttlMs: LONGEST_CALL_MS }],
        events: [],
        timers: timer === null ? [] : [timer],
      }),
    claimDue: (max) => timers.claimDue(max, LEASE_MS),
    done: (cues) => timers.done(cues as readonly DueTimer[]),
    onError: (message, error) => log.warn(message, { error }),
    now: Date.now,
  })
}

/** No call is longer; its memory is kept a little beyond its end, for late commands. */
const LONGEST_CALL_MS = 60 * 60_000

const keyOf = (callId: string): string => `simulated-call:${callId}`
