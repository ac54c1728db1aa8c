import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackingServices, type Home } from '@switchhook/test-servers'

/** `stack.json`: the addresses and processes of a running stack. */
export interface StackFile {
  readonly home: string
  readonly urls: {
    /** The first api replica, without `/api/v1`; null if there is none. */
    readonly api: string | null
    readonly apis: readonly string[]
    readonly devIdp: string
    readonly amqp: string
    readonly redis: string
    readonly rabbitmqManagement: string | null
    /** RabbitMQ's metrics; null if unknown. */
    readonly rabbitmqMetrics: string | null
    /** The stack's own Asterisk and the control of its phones; null without `PLATFORM=asterisk`. */
    readonly asterisk: string | null
    readonly telephones: string | null
  }
  readonly ports: Readonly<Record<string, number>>
  readonly healthPorts: Readonly<Record<string, number>>
  readonly providers: BackingServices['providers']
  readonly processes: Readonly<Record<string, { readonly pid: number; readonly log: string }>>
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
