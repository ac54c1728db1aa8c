import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { freePort } from './process/free-port.ts'

/** A port for each name: the wanted one, or with 0 any. */
export type PortWishes = Readonly<Record<string, number>>

/**
 * Any port stays the same from one time to the next for as long as it is free, so that clients of a server that was
 * restarted find it again. Those of `kept` stay whatever is wanted and whoever listens: it is ours.
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
    const isHandedOut = (port: number): boolean => Object.values(ports).includes(port)
    let port = kept.has(name) && before !== undefined ? before : wish || (await freePort(before))
    while (isHandedOut(port)) port = await freePort()
    ports[name] = port
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(ports)}\n`)
  return ports as Record<keyof W, number>
}

/** The ports as they were last handed out; empty when they never were. */
export function readPorts(file: string): Readonly<Partial<Record<string, number>>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<string, number>>
  } catch {
    return {}
  }
}
