import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** RabbitMQ's alarms. They concern all of the broker, so whoever raises one must be alone, and must clear it. */
export interface BrokerAlarm {
  raise(kind: 'memory' | 'disk'): Promise<void>
  /** Ends both kinds, raised or not. */
  clear(): Promise<void>
}

const SETTINGS = { memory: 'set_vm_memory_high_watermark', disk: 'set_disk_free_limit' } as const
const TROUBLE = { memory: '0', disk: '900000GB' } as const
/** RabbitMQ's own defaults. */
const ORDINARY = { memory: '0.4', disk: '50MB' } as const

interface Control {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** undefined: the broker was given by AMQP_URL, and nobody here may change its settings. */
export function brokerAlarm(): BrokerAlarm | undefined {
  const control = process.env['TEST_RABBITMQ_CONTROL']
  if (control === undefined) return undefined
  const { command, args, env } = JSON.parse(control) as Control
  const set = async (kind: 'memory' | 'disk', limit: string): Promise<void> => {
    const all = [...args, SETTINGS[kind], limit]
    await promisify(execFile)(command, all, { env: { ...process.env, ...env }, timeout: 20_000 })
  }
  return {
    raise: (kind) => set(kind, TROUBLE[kind]),
    clear: async () => void (await Promise.all([set('memory', ORDINARY.memory), set('disk', ORDINARY.disk)])),
  }
}
