import { setTimeout as sleep } from 'node:timers/promises'
import { type Injection, inject, type Targets } from './faults/inject.ts'
import { describeFault, marksOf, type PlannedFault } from './faults/plan.ts'
import type { UnusualAnswer } from './load/client.ts'
import { EVENTS } from './load/expiries.ts'
import { openRecoveries } from './load/recoveries.ts'
import { startLoad } from './load/start-load.ts'
import { startReceivers } from './receivers/receivers.ts'
import type { Disturbance, Observation } from './reconcile/observation.ts'
import { problemsOf } from './reconcile/problem.ts'
import type { ChaosStack } from './stack/chaos-stack.ts'

export type ChaosResult = Awaited<ReturnType<typeof runChaos>>

/** For this long after Redis has lost a call, its client still sends commands for it. A lost event stays lost. */
const CALL_MS = 20_000

/** A recovery runs in one api replica. Both are killed, so that for a moment none is left. */
const KILLS_DURING_RECOVERY: readonly PlannedFault[] = [
  { fault: { kind: 'kill', target: 'api-1' }, overlaps: false, pauseMs: 500 },
  { fault: { kind: 'kill', target: 'api-2' }, overlaps: true, pauseMs: 500 },
]

/**
 * Generates load, injects the planned faults, and reconciles every event with the POSTs that the endpoints received.
 * @param folder for the databases of the receivers
 * @param signal ends the run early; everything until then is reconciled
 */
export async function runChaos(
  stack: ChaosStack,
  folder: string,
  plan: readonly PlannedFault[],
  seed: number,
  signal: AbortSignal,
) {
  // First, so that every event of the load is owed to them.
  await using receivers = await startReceivers(stack, folder, seed)
  await using load = await startLoad(stack, seed)
  await load.newEventArrives()
  const recoveries = openRecoveries(load.client, load.subscribers)
  console.log(`a recovery of ${await recoveries.begin()} parked deliveries has begun`)
  const injections = await injectAll({ stack, load }, [...KILLS_DURING_RECOVERY, ...plan], signal)
  const lapses = injections.flatMap(({ lapse }) => lapse ?? [])
  const disturbances = injections
    .filter(({ skipped }) => skipped === undefined)
    .map(({ fault, fromMs, toMs }): Disturbance => ({ fromMs, toMs, ...marksOf(fault) }))
  const observe = async (): Promise<Observation> => {
    await recoveries.beginExhausted()
    return {
      ...(await load.observe()),
      recoveries: await recoveries.look(),
      receivers: await receivers.look(),
      disturbances,
      lapses,
    }
  }
  const isOfLostCall = (answer: UnusualAnswer): boolean => {
    if (answer.status !== 404) return false
    if (lapses.some((lapse) => isWithin(answer, lapse))) return true
    // A lost event stays lost. Any other is listed once Redis takes the list again, and is asked for again.
    return (
      answer.request.startsWith(`GET ${EVENTS}/`) &&
      (lapses.some(({ fromMs }) => fromMs <= answer.atMs) || disturbances.some((each) => isWithin(answer, each)))
    )
  }
  const result = await load.finish(observe, isOfLostCall, receivers.rest)
  const notRecovered = injections.filter(({ hasRecovered }) => !hasRecovered).map(({ fault }) => describeFault(fault))
  return {
    ...result,
    problems: [...problemsOf('not recovered', notRecovered), ...result.problems],
    injections,
    repeatedPublishes: load.events.repeats(),
    receiverKills: receivers.kills(),
  }
}

async function injectAll(
  targets: Targets,
  plan: readonly PlannedFault[],
  signal: AbortSignal,
): Promise<readonly Injection[]> {
  const injections: Promise<Injection>[] = []
  for (const { fault, overlaps, pauseMs } of plan) {
    if (!overlaps) await Promise.all(injections)
    if (signal.aborted) break
    await sleep(pauseMs)
    const injecting = inject(targets, fault).then((injection) => {
      console.log(lineOf(injection, overlaps))
      return injection
    })
    injections.push(injecting)
  }
  return Promise.all(injections)
}

function lineOf({ fault, fromMs, toMs, skipped, hasRecovered }: Injection, overlaps: boolean): string {
  const what = `${new Date(fromMs).toISOString().slice(11, 19)}  ${overlaps ? '+ ' : '  '}${describeFault(fault)}`
  const after = `${hasRecovered ? 'recovered' : 'NOT RECOVERED'} after ${((toMs - fromMs) / 1_000).toFixed(1)} s`
  return `${what.padEnd(56)}  ${skipped === undefined ? after : `skipped: ${skipped}`}`
}

const isWithin = ({ atMs }: UnusualAnswer, { fromMs, toMs }: Pick<Disturbance, 'fromMs' | 'toMs'>): boolean =>
  fromMs <= atMs && atMs <= toMs + CALL_MS
