import { join } from 'node:path'
import { ConfigError } from '@switchhook/runtime'
import { type Home, isTaken, rememberPorts } from '@switchhook/test-servers'
import type { Member } from './members.ts'
import type { StackOptions } from './stack-options.ts'

export type StackPorts = Awaited<ReturnType<typeof assignPorts>>

/**
 * Assigns ports to every member. A running member keeps its ports; others get the wanted port, or any free one.
 * @throws ConfigError if another process uses a wanted port
 */
export async function assignPorts(
  home: Home,
  members: readonly Member[],
  running: ReadonlySet<string>,
  { apiPort, idpPort }: StackOptions,
) {
  const configured: Readonly<Record<string, { readonly port: number; readonly variable: string }>> = {
    'api-1': { port: apiPort, variable: 'API_PORT' },
    'dev-idp': { port: idpPort, variable: 'DEV_IDP_PORT' },
  }
  const wishes: Record<string, number> = {}
  for (const { name, kind } of members) {
    const { port, variable } = configured[name] ?? { port: 0 }
    if (port !== 0 && !running.has(name) && (await isTaken(port)))
      throw new ConfigError(`port ${port} is in use: set ${variable} to another port, or to 0 for any free one`)
    if (kind === 'api' || kind === 'dev-idp') wishes[`${name}.port`] = port
    if (kind !== 'dev-idp') wishes[`${name}.health`] = 0
  }
  const kept = new Set(Object.keys(wishes).filter((slot) => running.has(slot.split('.')[0] ?? '')))
  const assigned = Object.entries(await rememberPorts(join(home.dataDir, 'stack-ports.json'), wishes, kept))
  const portsOf = (purpose: string): Record<string, number> =>
    Object.fromEntries(
      assigned.flatMap(([slot, port]) => {
        const [name, own] = slot.split('.')
        return own === purpose ? [[name, port]] : []
      }),
    )
  return { ports: portsOf('port'), healthPorts: portsOf('health') }
}
