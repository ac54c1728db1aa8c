import { evaluateInBroker } from './evaluate-in-broker.ts'

const SETTERS = {
  memory: 'vm_memory_monitor:set_vm_memory_high_watermark',
  disk: 'rabbit_disk_monitor:set_disk_free_limit',
} as const
const ALARMING = { memory: '0.0', disk: '"900000GB"' } as const
/** RabbitMQ's defaults. */
const DEFAULTS = { memory: '0.4', disk: '"50MB"' } as const

type Kind = keyof typeof SETTERS

/**
 * RabbitMQ's resource alarms. An alarm affects the whole broker: raise one only in a test that runs alone, clear it there, and
 * once more after all tests of the file, because a test that ran out of time may not have got that far.
 * @returns undefined if the broker was given by AMQP_URL, because its settings must not be changed
 */
export function brokerAlarm() {
  const evaluate = evaluateInBroker()
  if (evaluate === undefined) return undefined
  const set = async (kind: Kind, limit: string): Promise<void> => {
    // The commands for this return before the alarm has reached the connections. Asking for the alarms waits until it has.
    await evaluate(`ok = ${SETTERS[kind]}(${limit}), rabbit_alarm:get_alarms().`)
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
