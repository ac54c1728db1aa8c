import { connect } from 'node:net'

/** Connects, sends `hello`, and returns whether the reply is as expected. Never rejects. */
function answers(
  host: string,
  port: number,
  hello: Uint8Array | string,
  isExpected: (reply: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (result: boolean) => (): void => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(2_000, end(false))
    socket.once('error', end(false))
    socket.once('close', end(false))
    socket.once('connect', () => socket.write(hello))
    socket.once('data', (reply) => end(isExpected(reply))())
  })
}

/** Whether Redis answers and has loaded its data. */
export const redisAnswers = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  answers(host, port, 'PING\r\n', (reply) => reply.toString().startsWith('+PONG'))

/** The first frame a broker sends is a method (type 1) on channel 0: connection.start (AMQP 0-9-1, section 4.2.2). */
export const amqpAnswers = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  answers(host, port, Buffer.from('AMQP\0\0\u0009\u0001', 'latin1'), (reply) => reply.readUInt8(0) === 1)

/** Sends NAMES_REQ to Erlang's port mapper; its reply begins with its port (Erlang distribution protocol, "EPMD"). */
export const epmdAnswers = (port: number): Promise<boolean> =>
  answers('127.0.0.1', port, Buffer.from([0, 1, 110]), (reply) => reply.readUInt32BE(0) === port)

/** Whether an HTTP server answers, with any status. */
export const httpAnswers = async (url: string): Promise<boolean> => (await httpStatus(url)) !== undefined

/** Whether an HTTP server answers with 2xx. */
export async function httpSucceeds(url: string): Promise<boolean> {
  const status = await httpStatus(url)
  return status !== undefined && status >= 200 && status < 300
}

async function httpStatus(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2_000) })
    await response.body?.cancel()
    return response.status
  } catch {
    return undefined
  }
}
