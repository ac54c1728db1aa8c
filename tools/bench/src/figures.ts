import type { Bench, Setting } from './bench.ts'
import { measureBacklog } from './figures/backlog.ts'
import { AGENTS, measureCommands } from './figures/commands.ts'
import { measureDeliveries } from './figures/deliveries.ts'
import { measureLatency } from './figures/latency.ts'
import { measureLog } from './figures/log.ts'
import { measureMemory } from './figures/memory.ts'
import { measureNoisy } from './figures/noisy.ts'
import { measureOutage } from './figures/outage.ts'
import { COOLDOWN_MS, DEADLINE_MS } from './figures/short-deadline.ts'
import type { FigureName, Figures } from './report/results.ts'

const agents = [{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', device: 'SIM/{n}', count: AGENTS }]
const ordinary: Setting = { SIMULATOR_AGENTS: JSON.stringify(agents), WRAP_UP_SECONDS: '0' }
/** So that endpoints which hang time out within the patience of a benchmark. */
const shortDeadline: Setting = {
  DELIVERY_TIMEOUT: `${DEADLINE_MS}ms`,
  BREAKER_COOLDOWN: `${COOLDOWN_MS}ms`,
}

interface Measurement<Name extends FigureName> {
  readonly title: string
  readonly setting: Setting
  /** Undefined: it cannot be measured on this stack, as it has said. */
  readonly measure: (bench: Bench) => Promise<Figures[Name] | undefined>
}

/** In the order in which they are taken: those that leave something behind come last of their stack. */
export const MEASUREMENTS: { readonly [Name in FigureName]: Measurement<Name> } = {
  commands: {
    title: 'commands accepted, beside a bare server',
    setting: ordinary,
    measure: ({ stack, token, say }) => measureCommands(stack, token, say),
  },
  deliveries: {
    title: 'deliveries, beside BullMQ with axios and a bare loop',
    setting: ordinary,
    measure: ({ stack, token, say }) => measureDeliveries(stack, token, say),
  },
  latency: {
    title: 'from the event to its first POST, beside a bare loop',
    setting: ordinary,
    measure: measureLatency,
  },
  log: {
    title: 'the delivery log, with it and without',
    setting: ordinary,
    measure: measureLog,
  },
  outage: {
    title: 'a broker that is away',
    setting: ordinary,
    measure: measureOutage,
  },
  memory: {
    title: 'memory, with endpoints that answer without end',
    setting: shortDeadline,
    measure: measureMemory,
  },
  noisy: {
    title: 'endpoints that hang, and their neighbours, beside BullMQ with axios',
    setting: shortDeadline,
    measure: measureNoisy,
  },
  backlog: {
    title: 'a dead endpoint with a backlog',
    setting: shortDeadline,
    measure: measureBacklog,
  },
}

export const FIGURE_NAMES = Object.keys(MEASUREMENTS) as readonly FigureName[]
