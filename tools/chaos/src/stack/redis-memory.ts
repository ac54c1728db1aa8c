import { once } from 'node:events'
import { connect } from 'node:net'

const ANSWERS_WITHIN_MS = 5_000

/** Sets the memory limit of Redis in bytes (0: none) and returns the previous limit. */
export async function setMaxmemory(redisUrl: string, bytes: string): Promise<string> {
  const [, before = '0'] = (await command(redisUrl, ['CONFIG', 'GET', 'maxmemory'])).split('\r\n').filter(isValue)
  const answer = await command(redisUrl, ['CONFIG', 'SET', 'maxmemory', bytes])
  if (!answer.startsWith('+OK')) throw new Error(`Redis answered ${answer.trim()}`)
  return before
}

/** In the Redis protocol, lines that begin with `*` or `$` are lengths. */
const isValue = (line: string): boolean => line !== '' && !/^[*$]/.test(line)

/** Returns the raw answer in the Redis protocol. A short answer arrives in one piece. */
async function command(redisUrl: string, args: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(redisUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  try {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS)
    await once(socket, 'connect', { signal })
    socket.write([`*${args.length}`, ...args.flatMap((arg) => [`$${Buffer.byteLength(arg)}`, arg]), ''].join('\r\n'))
    const [answer] = (await once(socket, 'data', { signal })) as [Buffer]
    return answer.toString()
  } finally {
    socket.destroy()
  }
}
