import { startDeadline } from '@switchhook/runtime'
import type { Response } from 'express'
import type { EventOutput } from '../route.ts'

/** A client that has not read the rest within this time after the end is disconnected. */
const READ_REST_MS = 2_000

/**
 * Begins a response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * @param readRestMs time for the client to read the buffered text once the response has ended
 */
export function openEventOutput(response: Response, readRestMs: number = READ_REST_MS): EventOutput {
  const isClosed = (): boolean => response.closed || response.destroyed
  response.status(200)
  // nginx and others would otherwise hold events back.
  response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
  response.flushHeaders()
  return {
    write: (text) => {
      // After the end, Node would emit an error that ends the process. A slow client leaves the response open for a while.
      if (!response.writableEnded) response.write(text)
    },
    bufferedBytes: () => response.writableLength,
    isClosed: () => isClosed() || response.writableEnded,
    closed: (listener) => {
      if (isClosed()) listener()
      else response.once('close', listener)
    },
    end: () => {
      if (isClosed() || response.writableEnded) return
      // A client that reads nothing would keep its seat, and the process at its shutdown.
      const deadline = startDeadline(readRestMs, () => response.destroy())
      response.once('close', () => deadline.stop())
      response.end()
    },
    destroy: () => void response.destroy(),
  }
}
