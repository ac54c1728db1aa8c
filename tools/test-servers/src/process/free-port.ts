import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Below the ports that Linux and macOS give to connections and to listeners that ask for any port. Those could take a port
 * that was found here before its server, which may start for seconds, listens on it.
 */
const FIRST_PORT = 20_000
const PORT_AFTER_LAST = 32_768
/** How far apart processes with successive ids begin. */
const STRIDE = 101

/**
 * Each process goes through the ports from a place of its own. Random ones met: a server listens on its port seconds after it
 * was found, and several processes start some at the same moment.
 */
let nextPort = FIRST_PORT + ((process.pid * STRIDE) % (PORT_AFTER_LAST - FIRST_PORT))

function drawPort(): number {
  const port = nextPort
  nextPort = port + 1 < PORT_AFTER_LAST ? port + 1 : FIRST_PORT
  return port
}

/** Finds a free TCP port of the loopback interface: `wanted` if it is free, otherwise any. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(wanted || drawPort(), '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' && wanted === 0) throw error
    return freePort()
  } finally {
    server.close()
  }
}

/** Whether a process already listens on the port of the loopback interface. */
export async function isTaken(port: number): Promise<boolean> {
  return (await freePort(port)) !== port
}
