import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { newWebhookSecret, signatureOf, signingKeyOf } from '@switchhook/signing'

const START_POLL_MS = 200
const ANSWER_MS = 10_000
/** What a receiver may take of an endless body: the 2 MiB of axum, and what the buffers of sockets hold. */
const MAX_TAKEN_BYTES = 32 * 1_024 * 1_024

/**
 * Starts a receiver and sends it a delivery of call.status, genuine, of a later version, unreadable, forged and endless.
 * @param start runs the receiver until it is stopped
 * @throws Error with the answers that are wrong, or with the output of a receiver that ended
 */
export async function tryReceiver(
  start: (secret: string, stopped: AbortSignal) => Promise<string>,
  port: number,
  body: Buffer,
  ofLaterVersion: Buffer,
): Promise<void> {
  const secret = newWebhookSecret()
  const stop = new AbortController()
  const url = `http://127.0.0.1:${port}/`
  const ended = start(secret, stop.signal)
  const untilItAnswers = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const answer = await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined)
      if (answer) return
      await wait(START_POLL_MS)
    }
  }
  try {
    await Promise.race([untilItAnswers(), ended.then((output) => Promise.reject(new Error(`it ended: ${output}`)))])
    const nowSeconds = Math.floor(Date.now() / 1_000)
    const headersOf = (signed: Buffer, { withSecret = secret, ageSeconds = 0 } = {}) => {
      const id = randomUUID()
      const timestampSeconds = nowSeconds - ageSeconds
      const signature = signatureOf([signingKeyOf(withSecret)], { id, timestampSeconds, body: signed })
      return {
        'content-type': 'application/json; charset=utf-8',
        // A header is not signed: the receiver must go by the body.
        'x-svc-event': 'agent.status',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signature,
      }
    }
    const later = Buffer.from(body.toString().replace('"call.status"', '"call.later"'))
    const envelope = JSON.parse(body.toString()) as { readonly data: object }
    const withData = (data: object) => Buffer.from(JSON.stringify({ ...envelope, data }))
    const consulting = withData({ ...envelope.data, consultation: { forCallId: randomUUID() } })
    const empty = withData({})
    const [noObject, noJson] = [Buffer.from('{}'), Buffer.from('no JSON')]
    const genuine = headersOf(body)
    const requests: readonly [name: string, answer: number, headers: Record<string, string>, body: Buffer][] = [
      ['genuine', 204, genuine, body],
      ['of a consultation', 204, headersOf(consulting), consulting],
      ['with fields and values of a later version', 204, headersOf(ofLaterVersion), ofLaterVersion],
      ['of a later type', 204, headersOf(later), later],
      ['signed without fields of its data', 400, headersOf(empty), empty],
      ['signed without fields', 400, headersOf(noObject), noObject],
      ['signed, no JSON', 400, headersOf(noJson), noJson],
      ['another body', 401, genuine, Buffer.concat([body, Buffer.from(' ')])],
      ['another secret', 401, headersOf(body, { withSecret: newWebhookSecret() }), body],
      ['an old one', 401, headersOf(body, { ageSeconds: 400 }), body],
      ['an empty signature', 401, { ...genuine, 'webhook-signature': 'v1,' }, body],
    ]
    await breakOff(await beginRequest(port))
    const slow = await beginRequest(port)
    const wrong: string[] = []
    for (const [name, answer, headers, sent] of requests) {
      const signal = AbortSignal.timeout(ANSWER_MS)
      const { status } = await fetch(url, { method: 'POST', headers, body: sent, signal }).catch(() => ({
        status: 'no answer',
      }))
      if (status !== answer) wrong.push(`${name}, beside a slow caller: ${status}, not ${answer}`)
    }
    slow.destroy()
    for (const head of ['Content-Length: 10000000000', 'Content-Length: -1', 'Transfer-Encoding: chunked']) {
      const taken = await takenOfEndless(port, head)
      if (taken > MAX_TAKEN_BYTES) wrong.push(`${head}, endless: ${taken} bytes were read without an answer`)
    }
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  } finally {
    stop.abort()
    await ended.catch(() => undefined)
  }
}

/** Sends the begin of a request, as a slow caller does. */
async function beginRequest(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) =>
    socket.write('POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\n{', resolve),
  )
  return socket
}

/** Ends a request in the middle of its body, as a caller does whose time is over. */
async function breakOff(socket: Socket): Promise<void> {
  socket.resetAndDestroy()
  await once(socket, 'close')
}

/** Sends a body until the receiver answers or closes. Resolves to the bytes that it took, MAX_TAKEN_BYTES and a little at most. */
async function takenOfEndless(port: number, head: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  const answered = once(socket, 'data').catch(() => undefined)
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, ' '), Buffer.from('\r\n')])
  function* request() {
    yield `POST / HTTP/1.1\r\nHost: receiver\r\nContent-Type: application/json\r\n${head}\r\n\r\n`
    while (socket.bytesWritten <= MAX_TAKEN_BYTES) yield chunk
  }
  const sent = new Promise<void>((resolve) => pipeline(Readable.from(request()), socket, () => resolve()))
  await Promise.race([answered, sent])
  socket.destroy()
  return socket.bytesWritten - socket.writableLength
}
