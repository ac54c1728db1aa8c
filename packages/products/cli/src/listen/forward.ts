import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { connect, isIP } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { withoutControls } from '../output/output.ts'

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
    const response = await post(target, { ...headers, host: target.host }, body, signal)
    const said = await text(response).catch(() => '')
    return answered(response.statusCode ?? 0, durationMs(), said.slice(0, MAX_ANSWER))
  } catch (error) {
    const { name, code } = error as { readonly name: string; readonly code?: string }
    return failed(signal.aborted ? 'TimeoutError' : (code ?? name), durationMs())
  } finally {
    clearTimeout(timer)
  }
}

/** Such a name always means this machine (RFC 6761, section 6.3), but many systems resolve only `localhost`, without a dot. */
function onThisMachine(target: URL): URL {
  const address = new URL(target)
  if (/(^|\.)localhost\.?$/i.test(target.hostname)) address.hostname = 'localhost'
  return address
}

/** Not by `fetch`, which sends the host of the address that it connects to, and refuses some ports. */
const post = (
  target: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { request } = target.protocol === 'https:' ? https : http
    // Node.js would take it from `Host`, also if that is an address.
    const servername = isIP(target.hostname.replace(/^\[|\]$/g, '')) === 0 ? target.hostname : ''
    request(onThisMachine(target), { method: 'POST', headers, signal, servername }, resolve)
      .on('error', reject)
      .end(body)
  })

export async function untilListening(target: URL): Promise<void> {
  const { hostname, port, protocol } = onThisMachine(target)
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

/** Characters of an answer. The delivery has the rest. */
const MAX_SHOWN = 100

/** The outcome to report, as a delivery worker would see it. */
export type ForwardOutcome = Omit<Schemas['ReportedOutcome'], 'deliveryId' | 'leaseToken'>

/** The first that matches. Nothing listens at a refused port, so no attempt is counted. */
const BY_CODE: readonly (readonly [RegExp, Pick<ForwardOutcome, 'error' | 'release'>])[] = [
  [/^ECONNREFUSED$/, { release: true }],
  [/TIMEDOUT$|TIMEOUT|^TimeoutError$/, { error: 'timeout' }],
  [/^(ENOTFOUND|EAI_)/, { error: 'dns' }],
  [/CERT|SSL|TLS|^EPROTO$/, { error: 'tls' }],
  [/^HPE_/, { error: 'malformed' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { error: 'reset' }],
  [/^/, { error: 'network' }],
]

/** A success is reported without its answer. */
export const answered = (status: number, durationMs: number, answer: string): ForwardOutcome => ({
  status,
  durationMs,
  ...(answer && status >= 300 && { answer }),
})

/** A refused connection gives the delivery back. @param code of Node or undici, as in `error.cause.code` */
export function failed(code: string, durationMs: number): ForwardOutcome {
  const [, found = {}] = BY_CODE.find(([pattern]) => pattern.test(code)) ?? []
  return found.release ? found : { ...found, durationMs }
}

/** `204`, `401 (No secret fits the signature.)`, `timeout`, or `refused`. */
export const outcomeText = ({ status, error, release, answer }: ForwardOutcome): string =>
  String(status ?? error ?? (release ? 'refused' : '')) +
  (answer ? ` (${withoutControls(answer).slice(0, MAX_SHOWN)})` : '')
