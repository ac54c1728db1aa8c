import { type Bench, COOLDOWN_MS, DEADLINE_MS, type Setting } from './bench.ts'
import { AGENTS, measureCommands } from './figures/commands.ts'
import { measureConsole } from './figures/console.ts'
import { measureCost } from './figures/cost.ts'
import { measureDeliveries } from './figures/deliveries.ts'
import { measureFairness } from './figures/fairness.ts'
import { measureHarm } from './figures/harm.ts'
import { measureLatency } from './figures/latency.ts'
import { measureLimited } from './figures/limited.ts'
import { measureListeners } from './figures/listeners.ts'
import { measureMemory } from './figures/memory.ts'
import { measureModerate } from './figures/moderate.ts'
import { measureNoisy } from './figures/noisy.ts'
import { measureOutage } from './figures/outage.ts'
import { measurePlatforms } from './figures/platforms.ts'
import { measurePull } from './figures/pull.ts'
import { measureSweep } from './figures/sweep.ts'

const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]
const ordinary: Setting = { SIMULATOR_AGENTS: JSON.stringify(agents), WRAP_UP_SECONDS: '0' }
/** The same, for a figure that fills its stack: it gets one of its own. */
const filled: Setting = { ...ordinary }
/** With the agents of `make up`, who have a phone on either platform. The figure changes the platform of its stack. */
const bothPlatforms: Setting = { WRAP_UP_SECONDS: '0' }
/** Shorter deadlines, so that hanging endpoints time out within a benchmark. */
const shortDeadline: Setting = {
  DELIVERY_TIMEOUT: `${DEADLINE_MS}ms`,
  BREAKER_COOLDOWN: `${COOLDOWN_MS}ms`,
}

/** With name servers that never answer. */
const silentNames: Setting = {
  ...shortDeadline,
  NODE_OPTIONS: `--import=${new URL('./processes/silent-names.js', import.meta.url).href}`,
}

/** A figure: its title, the settings of its stack, and how it is measured. */
const figure = <Figure>(
  title: string,
  setting: Setting,
  /** Undefined: not measurable on this stack; the figure has said why. */
  measure: (bench: Bench) => Promise<Figure | undefined>,
) => ({ title, setting, measure })

/** In the order of measurement: figures that leave data behind come last on their stack. */
export const MEASUREMENTS = {
  latency: figure('latency from event or command to first POST, compared with two bare hops', ordinary, measureLatency),
  moderate: figure('latency and processor time of a command at moderate load', ordinary, measureModerate),
  listeners: figure('the same with 200 listeners on the live stream, and without', ordinary, measureListeners),
  commands: figure('commands per second, compared with a bare server', ordinary, measureCommands),
  deliveries: figure('deliveries per second, compared with four baselines', ordinary, measureDeliveries),
  console: figure('size of the console', ordinary, measureConsole),
  cost: figure('cost of a delivery with many subscriptions, waiting deliveries and workers', filled, measureCost),
  pull: figure('another tenant beside held deliveries, and while one client receives them', ordinary, measurePull),
  limited: figure('other endpoints beside a subscription at its limits', ordinary, measureLimited),
  outage: figure('recovery from a broker outage', ordinary, measureOutage),
  noisy: figure('healthy endpoints while others hang, compared with BullMQ', shortDeadline, measureNoisy),
  sweep: figure('another tenant beside endpoints that answer now and then', shortDeadline, measureSweep),
  fairness: figure('other tenants beside hanging deliveries and a burst of one tenant', shortDeadline, measureFairness),
  memory: figure('memory with misbehaving endpoints', shortDeadline, measureMemory),
  harm: figure('another tenant, and memory, beside each kind of harm', silentNames, measureHarm),
  platforms: figure(
    'latency from command to webhook, on the simulator and on Asterisk',
    bothPlatforms,
    measurePlatforms,
  ),
}

/** All figures, by the names that `FIGURES` accepts. */
export type Figures = {
  readonly [Name in keyof typeof MEASUREMENTS]: NonNullable<Awaited<ReturnType<(typeof MEASUREMENTS)[Name]['measure']>>>
}
export type FigureName = keyof Figures

export const FIGURE_NAMES = Object.keys(MEASUREMENTS) as readonly FigureName[]
