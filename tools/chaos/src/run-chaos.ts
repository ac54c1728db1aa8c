import { setTimeout as sleep } from 'node:timers/promises'
import { type Injection, inject, type Targets } from './faults/inject.ts'
import { describeFault, type Fault, type PlannedFault } from './faults/plan.ts'
import { createRandom } from './faults/random.ts'
import { startCalls } from './load/calls.ts'
import { type Client, openClient } from './load/client.ts'
import { startPlatformEvents } from './load/platform-events.ts'
import { listParked, openRecoveries, type Recoveries } from './load/recoveries.ts'
import type { Observation } from './reconcile/observation.ts'
import type { Problem } from './reconcile/problem.ts'
import { type Reconciliation, reconcile } from './reconcile/reconcile.ts'
import { countMessages } from './stack/broker-management.ts'
import type { ChaosStack } from './stack/chaos-stack.ts'
import { BEHAVIOURS } from './subscribers/behaviour.ts'
import { type Subscribers, startSubscribers } from './subscribers/subscribers.ts'

export interface ChaosResult {
  readonly injections: readonly Injection[]
  readonly reconciliation: Reconciliation
  /** Problems of processes and of the api's answers, one sentence each. */
  readonly otherProblems: readonly string[]
  readonly answers: Client['answers']
  readonly repeatedPublishes: number
  readonly loadMs: number
  /** From the end of the load until every delivery had ended. */
  readonly settlingMs: number
}

/** A recovery runs in one api replica. Both are killed, so that for a moment none is left. */
const KILLS_DURING_RECOVERY: readonly PlannedFault[] = [
  { fault: { kind: 'kill', target: 'api-1' }, overlaps: false, pauseMs: 500 },
  { fault: { kind: 'kill', target: 'api-2' }, overlaps: true, pauseMs: 500 },
]

/** Several times the schedule plus the time of a recovery. Anything that is not settled by then never will be. */
const SETTLES_WITHIN_MS = 180_000
const SETTLE_CHECK_MS = 1_000

/**
 * Generates load, injects the planned faults, and reconciles every event with the POSTs that the endpoints received.
 * @param signal ends the run early; everything until then is reconciled
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
    const events = await startPlatformEvents(stack.amqpUrl)
    const calls = startCalls(client, (call) => subscribers.received.callArrives('healthy', call))
    stopLoad = () => {
      stopLoad = undefined
      return Promise.all([events.stop(), calls.stop()])
    }
    const newEventArrives = (): Promise<void> => subscribers.received.newEventArrives('healthy')
    await newEventArrives()
    const recoveries = openRecoveries(client, subscribers)
    say(`a recovery of ${await recoveries.begin()} parked deliveries has begun`)
    const targets: Targets = { stack, subscribers, events, newEventArrives }
    const injections = await injectAll(targets, [...KILLS_DURING_RECOVERY, ...plan], say, signal)
    await subscribers.lastOutage()
    await stopLoad?.()
    const loadMs = Date.now() - startedAt

    say('the load has ended; waiting for the remaining deliveries')
    const observe = async (): Promise<Observation> => {
      await recoveries.beginExhausted()
      return observeAll(stack, subscribers, recoveries, {
        parked: (
          await Promise.all(
            subscribers.subscriptions.map(({ endpoint, subscriptionId }) =>
              listParked(client, endpoint, subscriptionId),
            ),
          )
        ).flat(),
        confirmed: events.confirmed,
        calls: calls.accepted,
        injections,
      })
    }
    const reconciliation = await settle(observe)
    return {
      injections,
      reconciliation,
      otherProblems: [...(await stack.unexpectedExits()), ...otherProblemsOf(injections, client.unusual)],
      answers: client.answers,
      repeatedPublishes: events.repeats(),
      loadMs,
      settlingMs: Date.now() - startedAt - loadMs,
    }
  } finally {
    // After an error, the timers of the load would keep the process alive.
    await stopLoad?.()
    await subscribers.close()
  }
}

async function injectAll(
  targets: Targets,
  plan: readonly PlannedFault[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly Injection[]> {
  const injections: Promise<Injection>[] = []
  for (const { fault, overlaps, pauseMs } of plan) {
    if (!overlaps) await Promise.all(injections)
    if (signal.aborted) break
    await sleep(pauseMs)
    injections.push(injectAndReport(fault, overlaps))
  }
  return Promise.all(injections)

  async function injectAndReport(fault: Fault, overlaps: boolean): Promise<Injection> {
    const done = await inject(targets, fault)
    say(lineOf(done, overlaps))
    return done
  }
}

function lineOf({ fault, fromMs, toMs, skipped, hasRecovered }: Injection, overlaps: boolean): string {
  const what = `${new Date(fromMs).toISOString().slice(11, 19)}  ${overlaps ? '+ ' : '  '}${describeFault(fault)}`
  const seconds = ((toMs - fromMs) / 1_000).toFixed(1)
  if (skipped !== undefined) return `${what.padEnd(56)}  skipped: ${skipped}`
  return `${what.padEnd(56)}  ${hasRecovered ? `recovered after ${seconds} s` : `NOT RECOVERED after ${seconds} s`}`
}

async function observeAll(
  stack: ChaosStack,
  subscribers: Subscribers,
  recoveries: Recoveries,
  {
    injections,
    ...seen
  }: Pick<Observation, 'parked' | 'confirmed' | 'calls'> & { readonly injections: readonly Injection[] },
): Promise<Observation> {
  const { received, subscriptions, guest } = subscribers
  return {
    ...seen,
    endpoints: BEHAVIOURS.map(({ name, eventTypes }) => ({
      name,
      eventTypes,
      subscriptionId: subscriptions.find(({ endpoint }) => endpoint === name)?.subscriptionId ?? '',
    })),
    guests: guest.names,
    closures: guest.closures,
    posts: received.posts,
    recoveries: await recoveries.look(),
    disturbances: injections,
    lapses: injections.flatMap(({ lapse }) => lapse ?? []),
    outages: subscribers.outages(),
    left: await countMessages(stack.managementUrl()),
    notReady: await stack.notReady(),
  }
}

/** Problems that waiting cannot resolve. */
const FINAL: readonly Problem['kind'][] = [
  'two deliveries of one event',
  'body changed',
  'headers changed',
  'signature or headers',
  'attempt number',
  'first attempt after the answer',
  'sequence number used twice',
  'notice of a notice',
]

/** Reconciles until no problem is left that waiting could resolve, or the time is up. */
async function settle(observe: () => Promise<Observation>): Promise<Reconciliation> {
  const deadline = Date.now() + SETTLES_WITHIN_MS
  for (;;) {
    // The broker refreshes its message counts once a second.
    await sleep(SETTLE_CHECK_MS)
    const reconciliation = reconcile(await observe())
    const isFinal = reconciliation.problems.every(({ kind }) => FINAL.includes(kind))
    if (isFinal || Date.now() >= deadline) return reconciliation
  }
}

/** For this long after Redis has lost a call, its client still sends commands for it. */
const CALL_MS = 20_000

function otherProblemsOf(injections: readonly Injection[], unusual: Client['unusual']): string[] {
  const lapses = injections.flatMap(({ lapse }) => lapse ?? [])
  const isExcused = ({ status, atMs }: Client['unusual'][number]): boolean =>
    status === 404 && lapses.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs + CALL_MS)
  const unexpected = unusual.filter((answer) => !isExcused(answer))
  return [
    ...injections
      .filter(({ hasRecovered }) => !hasRecovered)
      .map(({ fault }) => `not recovered from: ${describeFault(fault)}`),
    ...unexpected
      .slice(0, MOST_SHOWN)
      .map(({ status, request, atMs }) => `${request} was answered ${status} (${new Date(atMs).toISOString()})`),
    ...(unexpected.length > MOST_SHOWN ? [`${unexpected.length - MOST_SHOWN} more unexpected answers`] : []),
  ]
}

const MOST_SHOWN = 10
