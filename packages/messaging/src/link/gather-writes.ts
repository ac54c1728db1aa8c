import type { Writable } from 'node:stream'

/** The part of amqplib's connection that its documentation does not describe. */
export interface RawConnection {
  readonly stream: Pick<Writable, 'cork' | 'uncork' | 'write'>
  readonly channels: { buffer: Pick<Writable, 'write'> & { end(): void } }[]
  freshChannel(...args: readonly unknown[]): number
}

/**
 * Writes the frames of later channels to the socket, with those of the same tick in one system call. amqplib hands them over in
 * a later iteration of the event loop, frame by frame, through a stream for each channel that limits how many wait. Here, the
 * confirms that callers await are the limit.
 */
export function writeDirectly(connection: RawConnection): void {
  const { stream } = connection
  gatherWrites(stream)
  const fresh = connection.freshChannel.bind(connection)
  connection.freshChannel = (...args) => {
    const number = fresh(...args)
    const entry = connection.channels[number]
    if (entry !== undefined) entry.buffer = { write: (frame: Buffer) => stream.write(frame), end: () => {} }
    return number
  }
}

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
