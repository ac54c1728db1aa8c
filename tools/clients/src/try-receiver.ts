import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { newWebhookSecret, signatureOf, signingKeyOf } from '@switchhook/signing'

const START_POLL_MS = 200

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/**
 * Starts a receiver and sends it a delivery of call.status, genuine and forged.
 * @param start runs the receiver until it is stopped
 * @throws Error with the answers that are wrong, or with the output of a receiver that ended
 */
export async function tryReceiver(
  start: (secret: string, stopped: AbortSignal) => Promise<string>,
  port: number,
  body: Buffer,
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
    const post = async (forged: { body?: Buffer; secret?: string; ageSeconds?: number; signature?: string }) => {
      const id = randomUUID()
      const timestampSeconds = nowSeconds - (forged.ageSeconds ?? 0)
      const signature = signatureOf([signingKeyOf(forged.secret ?? secret)], { id, timestampSeconds, body })
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'x-svc-event': 'call.status',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': forged.signature ?? signature,
      }
      return (await fetch(url, { method: 'POST', headers, body: forged.body ?? body })).status
    }
    const answers = {
      genuine: await post({}),
      'another body': await post({ body: Buffer.concat([body, Buffer.from(' ')]) }),
      'another secret': await post({ secret: newWebhookSecret() }),
      'an old one': await post({ ageSeconds: 400 }),
      'an empty signature': await post({ signature: 'v1,' }),
    }
    const wrong = Object.entries(answers).filter(([name, status]) => status !== (name === 'genuine' ? 204 : 401))
    if (wrong.length > 0) throw new Error(`wrong answers: ${JSON.stringify(Object.fromEntries(wrong))}`)
  } finally {
    stop.abort()
    await ended.catch(() => undefined)
  }
}
