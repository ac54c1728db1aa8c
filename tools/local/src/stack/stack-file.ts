import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackingServices, type Home } from '@switchhook/backing'

/** `stack.json`: where everything of a running stack is to be found. */
export interface StackFile {
  readonly home: string
  readonly urls: {
    /** Of the first api replica, without `/api/v1`; null when there is none. */
    readonly api: string | null
    readonly apis: readonly string[]
    readonly devIdp: string
    readonly amqp: string
    readonly redis: string
    readonly rabbitmqManagement: string | null
    /** Of RabbitMQ's own metrics; null where we do not know. */
    readonly rabbitmqMetrics: string | null
  }
  readonly ports: Readonly<Record<string, number>>
  readonly healthPorts: Readonly<Record<string, number>>
  readonly providers: BackingServices['providers']
  readonly processes: Readonly<Record<string, { readonly pid: number; readonly log: string }>>
}

const pathOf = (home: Home): string => join(home.path, 'stack.json')

export function writeStackFile(home: Home, stack: StackFile): void {
  // For its owner's eyes: given urls may carry passwords.
  writeFileSync(pathOf(home), `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 })
}

/** Undefined when no stack of this home is up. */
export function readStackFile(home: Home): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(home), 'utf8')) as StackFile
  } catch {
    return undefined
  }
}

export const removeStackFile = (home: Home): void => rmSync(pathOf(home), { force: true })
