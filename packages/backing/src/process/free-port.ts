import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A TCP port of the loopback interface that nobody listens on at this moment: `wanted` if that is free, else any. */
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

/** Whether something listens on the port of the loopback interface already. */
export async function isTaken(port: number): Promise<boolean> {
  return (await freePort(port)) !== port
}
