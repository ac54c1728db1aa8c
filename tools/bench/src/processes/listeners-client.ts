import { get, type IncomingMessage } from 'node:http'

/**
 * Listeners of the live stream, one for each query. Counts messages without parsing them, so that the listeners take as
 * little of the machine as possible. Answers every message with what arrived so far.
 */
const [stream = '', token = '', ...queries] = process.argv.slice(2)

const EVENT = Buffer.from('\nevent: event\n')
const ATTEMPT = Buffer.from('event: attempt\n')
const GAP = Buffer.from('event: gap\n')
const heard = { messages: 0, gaps: 0 }

/** A pattern that two chunks share is not counted; chunks hold many messages. */
function count(chunk: Buffer, pattern: Buffer): number {
  let found = 0
  for (let at = chunk.indexOf(pattern); at >= 0; at = chunk.indexOf(pattern, at + pattern.length)) found += 1
  return found
}

async function listen(query: string): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${stream}${query}`, { headers: { authorization: `Bearer ${token}` }, agent: false }, resolve)
    request.once('error', reject)
  })
  if (response.statusCode !== 200) throw new Error(`the live stream answered ${response.statusCode}`)
  response.on('data', (chunk: Buffer) => {
    heard.messages += count(chunk, EVENT) + count(chunk, ATTEMPT)
    heard.gaps += count(chunk, GAP)
  })
}

await Promise.all(queries.map(listen))
process.on('message', () => process.send?.(heard))
process.on('disconnect', () => process.exit())
process.send?.(heard)
