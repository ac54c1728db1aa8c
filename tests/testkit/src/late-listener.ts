import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/** A thread that listens without accepting: with a full backlog, the kernel drops the next SYN, as a lossy network does. */
const LISTENER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', () => socket.end('HTTP/1.1 204 No Content\\r\\n\\r\\n'))
})
server.listen({ port: 0, host: workerData.host, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  setImmediate(() => Atomics.wait(workerData.gate, 0, 0))
})
`

export interface LateListener {
  readonly port: number
  /** Lets it accept from now on. A client connects when it repeats its SYN, one second after the first. */
  accept(): void
  close(): Promise<unknown>
}

/** Starts a server that answers 204, and accepts no connection until `accept`. */
export async function startLateListener(host = '127.0.0.1'): Promise<LateListener> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(LISTENER, { eval: true, workerData: { host, gate } })
  const [port] = (await once(thread, 'message')) as [number]
  const filling: Socket[] = []
  // The kernel accepts one more than the backlog.
  for (let n = 0; n < 2; n += 1) {
    const socket = connect({ port, host }).on('error', () => {})
    filling.push(socket)
    await once(socket, 'connect')
  }
  const accept = (): void => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    for (const socket of filling) socket.destroy()
  }
  return {
    port,
    accept,
    close: () => {
      accept()
      return thread.terminate()
    },
  }
}
