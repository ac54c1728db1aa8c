import { setTimeout as sleep } from 'node:timers/promises'
import { BEHAVIOURS } from './behaviour.ts'
import { countMessages } from './broker-queues.ts'
import { startCalls } from './calls.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { type Client, openClient } from './client.ts'
import type { Observation } from './observation.ts'
import { startOwnEvents } from './own-events.ts'
import { parkedOf } from './parked.ts'
import { describeFault, type Fault, type PlannedFault } from './plan.ts'
import { createRandom } from './random.ts'
import { reconcile, type Verdict } from './reconcile.ts'
import { beginRecovery, type RunningRecovery } from './recovery.ts'
import { type Strike, strike } from './strike.ts'
import { type Subscribers, startSubscribers } from './subscribers.ts'

export interface ChaosResult {
  readonly strikes: readonly Strike[]
  readonly verdict: Verdict
  /** What is wrong beside the deliveries, one sentence each. */
  readonly faults: readonly string[]
  readonly answers: Client['answers']
  readonly repeatedPublishes: number
  readonly loadMs: number
  /** From the end of the load until all of it was dealt with. */
  readonly settlingMs: number
}

/** Whichever replica of the api is at it; for a moment there is none. */
const KILLS_OF_WHO_RECOVERS: readonly PlannedFault[] = [
  { fault: { kind: 'kill', target: 'api-1' }, overlaps: false, pauseMs: 500 },
  { fault: { kind: 'kill', target: 'api-2' }, overlaps: true, pauseMs: 500 },
]

/** Beyond a whole schedule: whatever is not done by then will not be. */
const SETTLES_WITHIN_MS = 120_000
const SETTLE_CHECK_MS = 1_000

/**
 * Keeps a load going, lets faults strike, and looks what came of every event.
 * @param signal ends it before its time: what was done until then is reconciled
 */
export async function runChaos(
  stack: ChaosStack,
  plan: readonly PlannedFault[],
  seed: number,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<ChaosResult> {
  const client = await openClient(() => stack.apis(), stack.devIdp, createRandom(seed))
  const subscribers = await startSubscribers(client, seed)
  try {
    const startedAt = Date.now()
    const events = await startOwnEvents(stack.amqpUrl)
    const calls = startCalls(client, (call) => subscribers.notebook.callArrives('well', call))
    const newEventArrives = (): Promise<void> => subscribers.notebook.newEventArrives('well')
    await newEventArrives()
    const recovery = await beginRecovery(client, subscribers)
    say(`a recovery of ${recovery.count} parked deliveries has begun`)
    const strikes = await strikeAll(stack, [...KILLS_OF_WHO_RECOVERS, ...plan], newEventArrives, say, signal)
    await subscribers.outage()
    await Promise.all([events.stop(), calls.stop()])
    const loadMs = Date.now() - startedAt

    say('the load has ended; what is left is dealt with')
    const observe = (): Promise<Observation> =>
      observeAll(stack, client, subscribers, recovery, {
        confirmed: events.confirmed,
        calls: calls.accepted,
        strikes,
      })
    const verdict = await settle(observe)
    return {
      strikes,
      verdict,
      faults: [...(await stack.deaths()), ...faultsOf(strikes, client.answers)],
      answers: client.answers,
      repeatedPublishes: events.repeats(),
      loadMs,
      settlingMs: Date.now() - startedAt - loadMs,
    }
  } finally {
    await subscribers.close()
  }
}

async function strikeAll(
  stack: ChaosStack,
  plan: readonly PlannedFault[],
  newEventArrives: () => Promise<void>,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly Strike[]> {
  const strikes: Promise<Strike>[] = []
  for (const { fault, overlaps, pauseMs } of plan) {
    if (!overlaps) await Promise.all(strikes)
    if (signal.aborted) break
    await sleep(pauseMs)
    strikes.push(strikeAndTell(fault, overlaps))
  }
  return Promise.all(strikes)

  async function strikeAndTell(fault: Fault, overlaps: boolean): Promise<Strike> {
    const done = await strike(stack, fault, newEventArrives)
    say(lineOf(done, overlaps))
    return done
  }
}

function lineOf({ fault, fromMs, toMs, skipped, hasRecovered }: Strike, overlaps: boolean): string {
  const what = `${new Date(fromMs).toISOString().slice(11, 19)}  ${overlaps ? '+ ' : '  '}${describeFault(fault)}`
  const seconds = ((toMs - fromMs) / 1_000).toFixed(1)
  if (skipped !== undefined) return `${what.padEnd(56)}  skipped: ${skipped}`
  return `${what.padEnd(56)}  ${hasRecovered ? `all well again after ${seconds} s` : `NOT WELL AGAIN after ${seconds} s`}`
}

async function observeAll(
  stack: ChaosStack,
  client: Client,
  subscribers: Subscribers,
  recovery: RunningRecovery,
  { confirmed, calls, strikes }: Pick<Observation, 'confirmed' | 'calls'> & { readonly strikes: readonly Strike[] },
): Promise<Observation> {
  const { notebook, subscriptions } = subscribers
  const lists = subscriptions.map(({ endpoint, subscriptionId }) => parkedOf(client, endpoint, subscriptionId))
  return {
    endpoints: BEHAVIOURS.map(({ name, eventTypes }) => ({
      name,
      eventTypes,
      subscriptionId: subscriptions.find(({ endpoint }) => endpoint === name)?.subscriptionId ?? '',
    })),
    confirmed,
    calls,
    posts: notebook.posts,
    parked: (await Promise.all(lists)).flat(),
    recovery: await recovery.look(),
    disturbances: strikes,
    absences: subscribers.absences(),
    left: await countMessages(stack.managementUrl()),
    notReady: await stack.notReady(),
  }
}

/** Looks until nothing is wrong, or nothing will change any more. */
async function settle(observe: () => Promise<Observation>): Promise<Verdict> {
  const deadline = Date.now() + SETTLES_WITHIN_MS
  for (;;) {
    // The broker's counts are a second old.
    await sleep(SETTLE_CHECK_MS)
    const verdict = reconcile(await observe())
    if (verdict.problems.length === 0 || Date.now() >= deadline) return verdict
  }
}

/** 0: none, as a replica was killed. 409: a customer hung up first. 503: something that it needs is away. Nothing else is due. */
const DUE_ANSWERS: readonly number[] = [0, 200, 201, 202, 409, 503]

function faultsOf(strikes: readonly Strike[], answers: Client['answers']): string[] {
  return [
    ...strikes
      .filter(({ hasRecovered }) => !hasRecovered)
      .map(({ fault }) => `not recovered from: ${describeFault(fault)}`),
    ...[...answers]
      .filter(([status]) => !DUE_ANSWERS.includes(status))
      .map(([status, count]) => `${count} answers of ${status}`),
  ]
}
