import type { CostPoint } from '../figures/cost.ts'
import type { Rate, Workload } from '../figures/deliveries.ts'
import { spreadOf } from '../measure/statistics.ts'
import type { Figures, Results, Taken } from './results.ts'

const spread = spreadOf([3, 4, 5])
const neighbours = { quiet: spread, before: spread, steady: spread, beforeRatio: 1.1, steadyRatio: 1 }
const audience = {
  p50Ms: 4,
  p99Ms: 15,
  runs: [spread],
  costUs: { api: 100, workers: 200 },
  messagesPerSecond: 2_000,
  gaps: 0,
  apiMib: 120,
}
const side = { perSecond: 1_000, p50Ms: 20, p99Ms: 50, runs: [1_000], costUs: { api: 500 } }
const rate = (perSecond: number): Rate => ({
  perSecond,
  runs: [perSecond],
  costUs: { workers: 100, redis: 60 },
  harnessUs: { publisher: 10, receiver: 20 },
  idle: 0.05,
})
const point = (at: number): CostPoint => ({
  at,
  perSecond: 2_500,
  costUs: { workers: 100, fanout: 60, rabbitmq: 160, redis: 60 },
  memoryMib: { workers: 300, fanout: 150, rabbitmq: 200, redis: 20 },
  idle: 0.05,
})
/** Every ratio is 2, 1.6, 1 and 0.8. */
export const workload = (perSecond: number): Workload => ({
  perEvent: 1,
  subscriptions: 20,
  sides: {
    switchhook: rate(perSecond),
    bullmq: rate(perSecond / 2),
    equal: rate(perSecond / 1.6),
    durable: rate(perSecond),
    bare: rate(perSecond / 0.8),
  },
})

/** Figures that meet every target. */
export const sampleFigures: Figures = {
  commands: {
    agents: 1_000,
    byClients: [{ clients: 32, commands: side, baseline: { ...side, perSecond: 5_000 }, ratio: 0.2 }],
    events: { events: 9, legs: 3, missing: 0, doubled: 0, unended: 0, commands: 6 },
    redisCalls: { answer: { reads: 3, writes: 4 } },
  },
  deliveries: {
    runMs: 20_000,
    workloads: { 'one to one': workload(5_600), 'one subscription': workload(5_600), 'twenty to one': workload(8_000) },
  },
  latency: {
    perSecond: 500,
    runMs: 8_000,
    ours: { p50Ms: 4, p99Ms: 15, runs: [spread] },
    bare: { p50Ms: 2, p99Ms: 10, runs: [spread] },
  },
  listeners: {
    perSecond: 500,
    listeners: 200,
    runMs: 8_000,
    audiences: { nobody: audience, 'one agent each': audience, everything: audience },
  },
  console: {
    firstLoadBytes: 170 * 1_024,
    allBytes: 200 * 1_024,
    runs: 7,
    screens: [{ screen: 'sign-in, empty cache', firstPaintMs: 80, completeMs: 90 }],
  },
  log: {
    deliveries: 5_000,
    fanOuts: [
      {
        subscriptions: 20,
        on: { perSecond: 5_000, runs: [5_000], costUs: { fanout: 30, redis: 40 } },
        off: { perSecond: 5_000, runs: [5_000], costUs: { fanout: 29, redis: 38 } },
        ratio: 1,
      },
    ],
  },
  cost: {
    runMs: 10_000,
    subscriptions: 1_000,
    workers: 2,
    pinned: true,
    curves: { subscriptions: [point(10), point(1_000)], waiting: [point(0)], workers: [point(1), point(2)] },
  },
  noisy: {
    few: {
      endpoints: 20,
      hanging: 4,
      eventsPerSecond: 25,
      ours: neighbours,
      runs: [neighbours],
      bullmq: { ...neighbours, steadyRatio: 99 },
    },
    many: { endpoints: 100, hanging: 20, eventsPerSecond: 5, ours: neighbours, runs: [neighbours] },
    deadlineMs: 5_000,
  },
  backlog: {
    backlog: 20_000,
    deadlineMs: 5_000,
    cooldownMs: 10_000,
    healthyPerSecond: 200,
    burstMs: 4_000,
    settledMs: 30_000,
    cost: { cpuMs: { workers: 0.5, fanout: 0.1, broker: 1, redis: null }, published: 6, delivered: 5 },
    alone: spread,
    behind: spread,
    beside: spread,
    ratio: 1,
  },
  fairness: {
    events: 100_000,
    perEvent: 20,
    otherTenants: 10,
    othersPerSecond: 50,
    alone: spread,
    bursts: [{ hanging: 0, publishedMs: 20_000, observedMs: 60_000, isDrained: false, others: spread }],
  },
  memory: {
    endpoints: 1_000,
    wild: { endless: { endpoints: 25, answers: 500 } },
    deliveriesPerSecond: 500,
    calmMs: 12_000,
    workers: [
      {
        startMib: 100,
        warmMib: 200,
        endMib: 201,
        mostMib: 210,
        mibPerMinute: 1,
        isFlat: true,
        samples: [
          [0, 100],
          [50, 201],
        ],
      },
    ],
  },
  outage: {
    awayMs: 600_000,
    diedAfterMs: 5_000,
    callsPerSecond: 10,
    refused: 0,
    calls: 100,
    accepted: 300,
    firstMs: 1_000,
    allMs: 9_000,
    lost: 0,
    repeated: 0,
    perSecond: [
      [0, 30],
      [1, 0],
    ],
  },
  platforms: {
    rounds: 100,
    simulator: { answer: spread, hold: spread, resume: spread, hangup: spread },
    asterisk: { answer: spread, hold: spread, resume: spread, hangup: spread },
    idle: 0.5,
  },
}

export const takenOf = <T>(figure: T): Taken<T> => ({
  at: '2026-11-21T08:00:00.000Z',
  machine: { cores: 2, processor: 'a processor', memoryGib: 24, system: 'Linux 6', node: 'v24.0.0' },
  providers: { rabbitmq: 'local', redis: 'local' },
  figure,
})

/** All of them, taken, with some that are different. */
export const sampleResults = (over: Partial<Figures> = {}): Results =>
  Object.fromEntries(
    Object.entries({ ...sampleFigures, ...over }).map(([name, figure]) => [name, takenOf<unknown>(figure)]),
  ) as Results
