import { join } from 'node:path'
import { ConfigError } from '@switchhook/runtime'
import { type Home, isTaken, rememberPorts } from '@switchhook/test-servers'
import type { Member } from './members.ts'
import type { StackFile } from './stack-file.ts'
import type { StackOptions } from './stack-options.ts'

/**
 * Assigns ports to every member. A running member keeps its ports; others get the wanted port, or any free one.
 * @throws ConfigError if another process uses a wanted port
 */
export async function assignPorts(
  home: Home,
  members: readonly Member[],
  running: ReadonlySet<string>,
  options: StackOptions,
): Promise<Pick<StackFile, 'ports' | 'healthPorts'>> {
  const wishes: Record<string, number> = {}
  for (const { name, kind } of members) {
    const wanted = wantedPort(name, options)
    if (wanted.port !== 0 && !running.has(name) && (await isTaken(wanted.port))) {
      throw new ConfigError(
        `port ${wanted.port} is in use: set ${wanted.variable} to another port, or to 0 for any free one`,
      )
    }
    if (kind === 'api' || kind === 'dev-idp') wishes[`${name}.port`] = wanted.port
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

/** Only the first api replica and the identity provider have a configured port. */
function wantedPort(name: string, options: StackOptions): { readonly port: number; readonly variable: string } {
  if (name === 'api-1') return { port: options.apiPort, variable: 'API_PORT' }
  return { port: name === 'dev-idp' ? options.idpPort : 0, variable: 'DEV_IDP_PORT' }
}
