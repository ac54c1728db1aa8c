import type { Bench, Setting } from './bench.ts'
import { measureBacklog } from './figures/backlog.ts'
import { AGENTS, measureCommands } from './figures/commands.ts'
import { measureConsole } from './figures/console.ts'
import { measureCost } from './figures/cost.ts'
import { measureDeliveries } from './figures/deliveries.ts'
import { measureFairness } from './figures/fairness.ts'
import { measureLatency } from './figures/latency.ts'
import { measureListeners } from './figures/listeners.ts'
import { measureLog } from './figures/log.ts'
import { measureMemory } from './figures/memory.ts'
import { measureNoisy } from './figures/noisy.ts'
import { measureOutage } from './figures/outage.ts'
import { measurePlatforms } from './figures/platforms.ts'
import { COOLDOWN_MS, DEADLINE_MS } from './figures/short-deadline.ts'
import type { FigureName, Figures } from './report/results.ts'

const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]
export const ordinary: Setting = { SIMULATOR_AGENTS: JSON.stringify(agents), WRAP_UP_SECONDS: '0' }
/** The same, for a figure that fills its stack: it gets one of its own. */
const filled: Setting = { ...ordinary }
/** With the agents of `make up`, who have a phone on either platform. The figure changes the platform of its stack. */
const bothPlatforms: Setting = { WRAP_UP_SECONDS: '0' }
/** Shorter deadlines, so that hanging endpoints time out within a benchmark. */
const shortDeadline: Setting = {
  DELIVERY_TIMEOUT: `${DEADLINE_MS}ms`,
  BREAKER_COOLDOWN: `${COOLDOWN_MS}ms`,
}

interface Measurement<Name extends FigureName> {
  readonly title: string
  readonly setting: Setting
  /** Undefined: not measurable on this stack; the figure has said why. */
  readonly measure: (bench: Bench) => Promise<Figures[Name] | undefined>
}

/** In the order of measurement: figures that leave data behind come last on their stack. */
export const MEASUREMENTS: { readonly [Name in FigureName]: Measurement<Name> } = {
  commands: {
    title: 'commands per second, compared with a bare server',
    setting: ordinary,
    measure: measureCommands,
  },
  deliveries: {
    title: 'deliveries per second, compared with four baselines',
    setting: ordinary,
    measure: measureDeliveries,
  },
  latency: {
    title: 'latency from event to first POST, compared with a bare loop',
    setting: ordinary,
    measure: measureLatency,
  },
  listeners: {
    title: 'the same with 200 listeners on the live stream, and without',
    setting: ordinary,
    measure: measureListeners,
  },
  console: {
    title: 'size of the console, and its first paint in Chromium',
    setting: ordinary,
    measure: measureConsole,
  },
  log: {
    title: 'cost of the delivery log',
    setting: ordinary,
    measure: measureLog,
  },
  cost: {
    title: 'cost of a delivery with many subscriptions, waiting deliveries and workers',
    setting: filled,
    measure: measureCost,
  },
  outage: {
    title: 'recovery from a broker outage',
    setting: ordinary,
    measure: measureOutage,
  },
  fairness: {
    title: 'other tenants during the burst of one tenant',
    setting: shortDeadline,
    measure: measureFairness,
  },
  memory: {
    title: 'memory with misbehaving endpoints',
    setting: shortDeadline,
    measure: measureMemory,
  },
  noisy: {
    title: 'healthy endpoints while others hang, compared with BullMQ',
    setting: shortDeadline,
    measure: measureNoisy,
  },
  backlog: {
    title: 'backlog of a dead endpoint',
    setting: shortDeadline,
    measure: measureBacklog,
  },
  platforms: {
    title: 'latency from command to webhook, on the simulator and on Asterisk',
    setting: bothPlatforms,
    measure: measurePlatforms,
  },
}

export const FIGURE_NAMES = Object.keys(MEASUREMENTS) as readonly FigureName[]
