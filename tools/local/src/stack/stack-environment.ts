import { apiFields } from '@switchhook/api'
import { workerFields } from '@switchhook/delivery-worker'
import { devIdpFields } from '@switchhook/dev-idp'
import { fanoutFields } from '@switchhook/fanout'
import { amqpFields, FieldError, type Fields, redisFields } from '@switchhook/runtime'
import { ownEnvironment, type Say } from '@switchhook/test-servers'

const SETTINGS: Fields = { ...devIdpFields, ...apiFields, ...fanoutFields, ...workerFields }

/** What the runner, the demo and the local servers read (README.md). */
const OF_THE_RUNNER = [
  'SWITCHHOOK_HOME',
  'REPLICAS_API',
  'REPLICAS_FANOUT',
  'REPLICAS_WORKER',
  'AMQP_URL',
  'MANAGEMENT_URL',
  'REDIS_URL',
  'BACKING',
  'REDIS_SERVER',
  'ASTERISK_ROOT',
  'DEMO_API_URL',
  'DEMO_IDP_URL',
  'DEMO_WEBHOOK_HOST',
]

/** The exporter of traces reads these itself (docs/tracing.md). */
const OF_THE_EXPORTER = /^OTEL_(?:EXPORTER_OTLP|RESOURCE|SERVICE|BSP)_/

/** Other programs read these, too, and know other values. */
const isShared = (name: string): boolean => name === 'LOG_LEVEL' || name.startsWith('OTEL_')

/**
 * What a stack takes from the shell of a person: the settings of Switchhook, and what every program needs
 * (`ownEnvironment`). `NODE_ENV` is not taken, nor users and passwords of a RabbitMQ or Redis that the person does not give.
 */
export function stackEnvironment(person: NodeJS.ProcessEnv, say: Say = () => {}): NodeJS.ProcessEnv {
  const isTaken = (name: string): boolean => {
    if (name === 'NODE_ENV') return false
    if (Object.hasOwn(amqpFields, name)) return Boolean(person['AMQP_URL'])
    if (Object.hasOwn(redisFields, name)) return Boolean(person['REDIS_URL'])
    if (!Object.hasOwn(SETTINGS, name)) return OF_THE_EXPORTER.test(name)
    const problem = isShared(name) ? problemOf(name, person[name]) : undefined
    if (problem !== undefined) say(`${name} of your shell is ignored: for Switchhook it ${problem}`)
    return problem === undefined
  }
  return ownEnvironment([...OF_THE_RUNNER, ...Object.keys(person).filter(isTaken)], person)
}

function problemOf(name: string, value: string | undefined): string | undefined {
  try {
    if (value) SETTINGS[name]?.parse(value)
    return undefined
  } catch (error) {
    if (error instanceof FieldError) return error.message
    throw error
  }
}
