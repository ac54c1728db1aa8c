import type { Response } from 'express'
import type { EventOutput } from '../route.ts'

/** Begins a response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function openEventOutput(response: Response): EventOutput {
  response.status(200)
  // nginx and others would otherwise hold events back.
  response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
  response.flushHeaders()
  return {
    write: (text) => void response.write(text),
    bufferedBytes: () => response.writableLength,
    isClosed: () => response.closed || response.destroyed,
    closed: (listener) => {
      if (response.closed || response.destroyed) listener()
      else response.once('close', listener)
    },
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  }
}
