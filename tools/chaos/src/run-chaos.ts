import { setTimeout as sleep } from 'node:timers/promises'
import { BEHAVIOURS } from './behaviour.ts'
import { countMessages } from './broker-management.ts'
import { startCalls } from './calls.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { type Client, openClient } from './client.ts'
import type { Observation } from './observation.ts'
import { startOwnEvents } from './own-events.ts'
import { parkedOf } from './parked.ts'
import { describeFault, type Fault, type PlannedFault } from './plan.ts'
import { createRandom } from './random.ts'
import { type Problem, reconcile, type Verdict } from './reconcile.ts'
import { openRecoveries, type Recoveries } from './recovery.ts'
import { type Strike, type Struck, strike } from './strike.ts'
import { type Subscribers, startSubscribers } from './subscribers.ts'

export interface ChaosResult {
  readonly strikes: readonly Strike[]
  readonly verdict: Verdict
  /** What is wrong apart from the deliveries, one sentence each. */
  readonly faults: readonly string[]
  readonly answers: Client['answers']
  readonly repeatedPublishes: number
  readonly loadMs: number
  /** From the end of the load until all of it was dealt with. */
  readonly settlingMs: number
}

/** The recovery runs in one replica of the api; for a moment there is none. */
const KILLS_DURING_RECOVERY: readonly PlannedFault[] = [
  { fault: { kind: 'kill', target: 'api-1' }, overlaps: false, pauseMs: 500 },
  { fault: { kind: 'kill', target: 'api-2' }, overlaps: true, pauseMs: 500 },
]

/** Several times the schedule, and what a recovery takes: whatever is not done by then never will be. */
const SETTLES_WITHIN_MS = 180_000
const SETTLE_CHECK_MS = 1_000

/**
 * Keeps a load going, lets faults strike, and reconciles every event with what the endpoints got.
 * @param signal ends it early: what was done until then is reconciled
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
  let stopLoad: (() => Promise<unknown>) | undefined
  try {
    const startedAt = Date.now()
    const events = await startOwnEvents(stack.amqpUrl)
    const calls = startCalls(client, (call) => subscribers.notebook.callArrives('well', call))
    stopLoad = () => {
      stopLoad = undefined
      return Promise.all([events.stop(), calls.stop()])
    }
    const newEventArrives = (): Promise<void> => subscribers.notebook.newEventArrives('well')
    await newEventArrives()
    const recoveries = openRecoveries(client, subscribers)
    say(`a recovery of ${await recoveries.begin()} parked deliveries has begun`)
    const struck: Struck = { stack, subscribers, newEventArrives }
    const strikes = await strikeAll(struck, [...KILLS_DURING_RECOVERY, ...plan], say, signal)
    await subscribers.outage()
    await stopLoad?.()
    const loadMs = Date.now() - startedAt

    say('the load has ended; waiting for the remaining deliveries')
    const observe = async (): Promise<Observation> => {
      await recoveries.beginExhausted()
      return observeAll(stack, subscribers, recoveries, {
        parked: (
          await Promise.all(
            subscribers.subscriptions.map(({ endpoint, subscriptionId }) => parkedOf(client, endpoint, subscriptionId)),
          )
        ).flat(),
        confirmed: events.confirmed,
        calls: calls.accepted,
        strikes,
      })
    }
    const verdict = await settle(observe)
    return {
      strikes,
      verdict,
      faults: [...(await stack.deaths()), ...faultsOf(strikes, client.unusual)],
      answers: client.answers,
      repeatedPublishes: events.repeats(),
      loadMs,
      settlingMs: Date.now() - startedAt - loadMs,
    }
  } finally {
    // After an error its timers would keep the process alive.
    await stopLoad?.()
    await subscribers.close()
  }
}

async function strikeAll(
  struck: Struck,
  plan: readonly PlannedFault[],
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
    const done = await strike(struck, fault)
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
  subscribers: Subscribers,
  recoveries: Recoveries,
  { strikes, ...seen }: Pick<Observation, 'parked' | 'confirmed' | 'calls'> & { readonly strikes: readonly Strike[] },
): Promise<Observation> {
  const { notebook, subscriptions, guest } = subscribers
  return {
    ...seen,
    endpoints: BEHAVIOURS.map(({ name, eventTypes }) => ({
      name,
      eventTypes,
      subscriptionId: subscriptions.find(({ endpoint }) => endpoint === name)?.subscriptionId ?? '',
    })),
    guests: guest.names,
    closures: guest.closures,
    posts: notebook.posts,
    recoveries: await recoveries.look(),
    disturbances: strikes,
    lapses: strikes.flatMap(({ lapse }) => lapse ?? []),
    absences: subscribers.absences(),
    left: await countMessages(stack.managementUrl()),
    notReady: await stack.notReady(),
  }
}

/** Waiting does not help against these. */
const FINAL: readonly Problem['kind'][] = [
  'two deliveries of one event',
  'body changed',
  'headers changed',
  'signature or headers',
  'attempt number',
  'first attempt after the answer',
  'number used twice',
  'notice of a notice',
]

/** Observes until nothing is wrong, or nothing will change any more. */
async function settle(observe: () => Promise<Observation>): Promise<Verdict> {
  const deadline = Date.now() + SETTLES_WITHIN_MS
  for (;;) {
    // The broker's counts are a second old.
    await sleep(SETTLE_CHECK_MS)
    const verdict = reconcile(await observe())
    if (verdict.problems.every(({ kind }) => FINAL.includes(kind)) || Date.now() >= deadline) return verdict
  }
}

/** After Redis has lost a call, its client still gives commands for so long. */
const CALL_MS = 20_000

function faultsOf(strikes: readonly Strike[], unusual: Client['unusual']): string[] {
  const lapses = strikes.flatMap(({ lapse }) => lapse ?? [])
  const isDue = ({ status, atMs }: Client['unusual'][number]): boolean =>
    status === 404 && lapses.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs + CALL_MS)
  const undue = unusual.filter((answer) => !isDue(answer))
  return [
    ...strikes
      .filter(({ hasRecovered }) => !hasRecovered)
      .map(({ fault }) => `not recovered from: ${describeFault(fault)}`),
    ...undue
      .slice(0, MOST_SHOWN)
      .map(({ status, request, atMs }) => `${request} was answered ${status} (${new Date(atMs).toISOString()})`),
    ...(undue.length > MOST_SHOWN ? [`${undue.length - MOST_SHOWN} more answers of this kind`] : []),
  ]
}

const MOST_SHOWN = 10
