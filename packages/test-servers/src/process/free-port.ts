import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Finds a free TCP port of the loopback interface: `wanted` if it is free, otherwise any. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(wanted, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  } catch (error) {
    if (wanted === 0) throw error
    return freePort()
  } finally {
    server.close()
  }
}

/** Whether a process already listens on the port of the loopback interface. */
export async function isTaken(port: number): Promise<boolean> {
  return (await freePort(port)) !== port
}
