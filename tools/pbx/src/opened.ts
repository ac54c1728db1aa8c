import { once } from 'node:events'
import type { WebSocket } from 'undici'

/** A starting Asterisk may accept the connection and answer nothing. */
const OPEN_WITHIN_MS = 5_000

/** Resolves when the connection is open. Closes it and rejects if it does not open in time. */
export async function opened(socket: WebSocket, whose: string): Promise<void> {
  const failed = new AbortController()
  socket.addEventListener('error', () => failed.abort())
  try {
    await once(socket, 'open', { signal: AbortSignal.any([failed.signal, AbortSignal.timeout(OPEN_WITHIN_MS)]) })
  } catch {
    socket.close()
    throw new Error(`${whose} has no connection to Asterisk`)
  }
}
