import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { freePort } from './process/free-port.ts'

/** The wanted port for each name; 0 means any free port. */
export type PortWishes = Readonly<Record<string, number>>

/**
 * Assigns ports and stores them in `file`. An assigned port is reused while it is free, so that clients find a restarted
 * server again. The ports of `kept` are always reused: they are taken by the running servers themselves.
 */
export async function rememberPorts<W extends PortWishes>(
  file: string,
  wishes: W,
  kept: ReadonlySet<string> = new Set(),
): Promise<Readonly<Record<keyof W, number>>> {
  const known = readPorts(file)
  const ports: Record<string, number> = {}
  for (const [name, wish] of Object.entries(wishes)) {
    const before = known[name]
    const isAssigned = (port: number): boolean => Object.values(ports).includes(port)
    let port = kept.has(name) && before !== undefined ? before : wish || (await freePort(before))
    while (isAssigned(port)) port = await freePort()
    ports[name] = port
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(ports)}\n`)
  return ports as Record<keyof W, number>
}

/** The ports that were last assigned; empty if none were. */
export function readPorts(file: string): Readonly<Partial<Record<string, number>>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<string, number>>
  } catch {
    return {}
  }
}
