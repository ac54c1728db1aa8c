import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { usage } from '../exit.ts'
import { answered, type ForwardOutcome, failed } from './outcome.ts'

/** The timeout of a delivery worker, too. */
const TIMEOUT_MS = 10_000
const PROBE_EVERY_MS = 1_000
/** As much as the API takes. */
const MAX_ANSWER = 1_024

/** POSTs a delivery as a worker does: the same headers and bytes, no redirect is followed. */
export async function forward(
  target: URL,
  { headers, body }: Pick<Schemas['ReceivedDelivery'], 'headers' | 'body'>,
): Promise<ForwardOutcome> {
  const startMs = performance.now()
  const durationMs = (): number => Math.round(performance.now() - startMs)
  const timeout = new AbortController()
  // oxlint-disable-next-line no-restricted-globals -- the deadline of one request
  const timer = setTimeout(() => timeout.abort(new DOMException('no answer in time', 'TimeoutError')), TIMEOUT_MS)
  const { signal } = timeout
  try {
    const response = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal })
    const text = await response.text().catch(() => '')
    return answered(response.status, durationMs(), text.slice(0, MAX_ANSWER))
  } catch (error) {
    const { name, cause } = error as { readonly name: string; readonly cause?: { readonly code?: string } }
    return failed(cause?.code ?? name, durationMs())
  } finally {
    clearTimeout(timer)
  }
}

/** With a dispatcher of Node in place of a connection. `cache: 'only-if-cached'` would send: Node does not look at it. */
const SEND_NOTHING = {
  method: 'GET',
  dispatcher: {
    dispatch: () => {
      throw new Error('nothing is sent')
    },
  } as never,
}

/** @throws CliError if `fetch` refuses the port, as browsers do. Nothing is sent. */
export async function checkPort(target: URL): Promise<void> {
  try {
    await fetch(target, SEND_NOTHING)
  } catch (error) {
    if (!String((error as Error).cause).includes('bad port')) return
    throw usage(`Port ${target.port} is reserved: let your application use another.`)
  }
}

export async function untilListening({ hostname, port, protocol }: URL): Promise<void> {
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) }
  const isListening = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(to)
      const end = (found: boolean): void => {
        socket.destroy()
        resolve(found)
      }
      socket.setTimeout(PROBE_EVERY_MS, () => end(false))
      socket.once('connect', () => end(true)).once('error', () => end(false))
    })
  while (!(await isListening())) await wait(PROBE_EVERY_MS)
}
