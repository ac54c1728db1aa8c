import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Below the ports that Linux and macOS give to connections and to listeners that ask for any port. Those could take a port
 * that was found here before its server, which may start for seconds, listens on it.
 */
const FIRST_PORT = 20_000
const PORT_AFTER_LAST = 32_768

/** Finds a free TCP port of the loopback interface: `wanted` if it is free, otherwise any. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(wanted || randomInt(FIRST_PORT, PORT_AFTER_LAST), '127.0.0.1'), 'listening')
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
