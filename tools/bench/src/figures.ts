import { type StackFile } from '@switchhook/local'
import { measureBacklog } from './backlog-figure.ts'
import { AGENTS, measureCommands } from './commands-figure.ts'
import { measureDeliveries } from './deliveries-figure.ts'
import { measureLatency } from './latency-figure.ts'
import { measureLog } from './log-figure.ts'
import { measureMemory } from './memory-figure.ts'
import { measureNoisy } from './noisy-figure.ts'
import type { BenchOptions } from './options.ts'
import { measureOutage } from './outage-figure.ts'
import type { FigureName, Figures } from './results.ts'
import { COOLDOWN_MS, DEADLINE_MS } from './short-deadline.ts'

/** What a figure is measured with. */
export interface Bench {
  readonly stack: StackFile
  readonly token: string
  readonly say: (line: string) => void
  readonly options: BenchOptions
  /** Starts whatever of the stack is not running, told this as well, and resolves when all of it is ready. */
  readonly bringUp: (more?: Setting) => Promise<StackFile>
}

/** What the services of a stack are told; figures that share one share a stack. */
type Setting = Readonly<Record<string, string>>

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
