import type { WebSocket } from 'undici'

/** A starting Asterisk may accept the connection and answer nothing. */
const OPEN_WITHIN_MS = 5_000

/** Resolves when the connection is open. Closes it and rejects if it does not open in time. */
export async function opened(socket: WebSocket, whose: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => reject(new Error(`${whose} has no connection to Asterisk`))
      socket.addEventListener('open', () => resolve())
      socket.addEventListener('error', fail)
      timer = setTimeout(fail, OPEN_WITHIN_MS)
    })
  } catch (error) {
    socket.close()
    throw error
  } finally {
    clearTimeout(timer)
  }
}
