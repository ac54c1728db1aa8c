import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RabbitmqControl } from '@switchhook/test-servers'

const SETTINGS = { memory: 'set_vm_memory_high_watermark', disk: 'set_disk_free_limit' } as const
const ALARMING = { memory: '0', disk: '900000GB' } as const
/** RabbitMQ's defaults. */
const DEFAULTS = { memory: '0.4', disk: '50MB' } as const

type Kind = keyof typeof SETTINGS

/**
 * RabbitMQ's resource alarms. An alarm affects the whole broker: raise one only in a test that runs alone, and clear it.
 * @returns undefined if the broker was given by AMQP_URL, because its settings must not be changed
 */
export function brokerAlarm() {
  const control = process.env['TEST_RABBITMQ_CONTROL']
  if (control === undefined) return undefined
  const { command, args, env } = JSON.parse(control) as RabbitmqControl
  const set = async (kind: Kind, limit: string): Promise<void> => {
    const all = [...args, SETTINGS[kind], limit]
    await promisify(execFile)(command, all, { env: { ...process.env, ...env }, timeout: 20_000 })
  }
  const raised = new Set<Kind>()
  return {
    raise: async (kind: Kind): Promise<void> => {
      raised.add(kind)
      await set(kind, ALARMING[kind])
    },
    clear: async (): Promise<void> => {
      for (const kind of raised) {
        await set(kind, DEFAULTS[kind])
        raised.delete(kind)
      }
    },
  }
}
