import { startDeadline } from '@switchhook/runtime'
import type { Response } from 'express'

/** A client that has not read the rest within this time after the end is disconnected. */
const READ_REST_MS = 2_000

/** A response of server-sent events that has begun. It never waits: unread text is buffered. */
export type EventOutput = ReturnType<typeof openEventOutput>

/**
 * Begins a response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * @param readRestMs time for the client to read the buffered text once the response has ended
 */
export function openEventOutput(response: Response, readRestMs = READ_REST_MS) {
  const isClosed = (): boolean => response.closed || response.destroyed
  response.status(200)
  // nginx and others would otherwise hold events back.
  response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
  response.flushHeaders()
  return {
    /** Does nothing once the response has ended. */
    write: (text: string): void => {
      // After the end, Node would emit an error that ends the process. A slow client leaves the response open for a while.
      if (!response.writableEnded) response.write(text)
    },
    bufferedBytes: (): number => response.writableLength,
    /** The response has ended, or the connection is closed. */
    isClosed: (): boolean => isClosed() || response.writableEnded,
    /** Calls the listener once the connection is closed, by either side; immediately if it is closed. */
    closed: (listener: () => void): void => {
      if (isClosed()) listener()
      else response.once('close', listener)
    },
    /** Ends the response after the buffered text. A client that does not read it in time is disconnected. */
    end: (): void => {
      if (isClosed() || response.writableEnded) return
      // A client that reads nothing would keep its seat, and the process at its shutdown.
      const deadline = startDeadline(readRestMs, () => response.destroy())
      response.once('close', () => deadline.stop())
      response.end()
    },
    /** Closes the connection without the buffered text. */
    destroy: (): void => void response.destroy(),
  }
}
