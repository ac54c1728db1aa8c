import type { Writable } from 'node:stream'

/**
 * Sends the writes of one tick together. amqplib writes each frame on its own, which would be one system call per publish
 * or acknowledgement. No write waits longer than until the end of the tick.
 */
export function gatherWrites(stream: Pick<Writable, 'cork' | 'uncork' | 'write'>): void {
  const { write } = stream
  let isGathering = false
  const release = (): void => {
    isGathering = false
    stream.uncork()
  }
  stream.write = (...chunk: unknown[]): boolean => {
    if (!isGathering) {
      isGathering = true
      stream.cork()
      process.nextTick(release)
    }
    return Reflect.apply(write, stream, chunk) as boolean
  }
}
