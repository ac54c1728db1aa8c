import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { startDeadline } from './deadline.ts'

/**
 * Disconnects a client that takes nothing of an answer for `ms` (at most twice this) once the answer is complete: answers
 * that are not read would fill the memory. Node's own timeout of a connection begins anew with each byte that the client
 * sends.
 */
export function endIfUnread(response: ServerResponse, socket: Socket, ms: number): void {
  response.once('prefinish', () => {
    let left = unsentBytes(socket)
    if (left === 0) return
    const check = (): void => {
      const before = left
      left = unsentBytes(socket)
      if (left === before) return void socket.destroy()
      deadline = startDeadline(ms, check)
    }
    let deadline = startDeadline(ms, check)
    response.once('close', () => deadline.stop())
  })
}

/** Only Node's handle, which is no public interface, knows how much of a write in progress is left. */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
