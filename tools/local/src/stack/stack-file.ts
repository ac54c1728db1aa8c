import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackingServices, type Home, runningPid } from '@switchhook/test-servers'
import { ASTERISK_PROCESSES, type LocalAsterisk } from '../asterisk/local-asterisk.ts'
import type { StackPorts } from './assign-ports.ts'
import type { Member } from './members.ts'

/** The servers that the members use. */
export interface Servers {
  readonly backing: BackingServices
  readonly asterisk: LocalAsterisk | null
}

/** `stack.json`: the addresses and processes of a running stack. */
export type StackFile = Awaited<ReturnType<typeof describeStack>>

export async function describeStack(
  home: Home,
  members: readonly Member[],
  ports: StackPorts,
  { backing, asterisk }: Servers,
) {
  const names = [...members.map(({ name }) => name), ...ASTERISK_PROCESSES, 'rabbitmq', 'redis', 'epmd']
  const pids = await Promise.all(names.map(async (name) => [name, await runningPid(home, name)] as const))
  const url = (name: string): string => `http://127.0.0.1:${ports.ports[name]}`
  const apis = members.filter(({ kind }) => kind === 'api').map(({ name }) => url(name))
  return {
    home: home.path,
    urls: {
      /** The first api replica, without `/api/v1`; null if there is none. */
      api: apis[0] ?? null,
      apis,
      devIdp: url('dev-idp'),
      amqp: backing.amqpUrl,
      redis: backing.redisUrl,
      rabbitmqManagement: backing.managementUrl,
      /** RabbitMQ's metrics; null if unknown. */
      rabbitmqMetrics: backing.metricsUrl ?? null,
      /** The stack's own Asterisk and the control of its phones; null without `PLATFORM=asterisk`. */
      asterisk: asterisk?.url ?? null,
      telephones: asterisk?.telephonesUrl ?? null,
    },
    ...ports,
    providers: { ...backing.providers },
    processes: Object.fromEntries(
      pids.flatMap(([name, pid]) => (pid === undefined ? [] : [[name, { pid, log: home.logFile(name) }]])),
    ),
  }
}

/** The URL of the management API. @throws if the stack's broker has none */
export function managementOf({ urls: { rabbitmqManagement: url } }: Pick<StackFile, 'urls'>): string {
  if (url === null) throw new Error('this broker has no management API')
  return url
}

const pathOf = (home: Home): string => join(home.path, 'stack.json')

export function writeStackFile(home: Home, stack: StackFile): void {
  // Readable by its owner only, because given URLs may contain passwords.
  writeFileSync(pathOf(home), `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 })
}

/** Undefined if no stack of this home is running. */
export function readStackFile(home: Home): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(home), 'utf8')) as StackFile
  } catch {
    return undefined
  }
}

export const removeStackFile = (home: Home): void => rmSync(pathOf(home), { force: true })
