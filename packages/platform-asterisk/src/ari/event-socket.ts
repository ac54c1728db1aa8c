import { startDeadline } from '@switchhook/runtime'
import { Agent, WebSocket } from 'undici'
import { type AriServer, authorizationOf, verifiedBy } from './ari-client.ts'
import { type AriEvent, parseEvent } from './ari-model.ts'

export interface EventSocketOptions {
  readonly server: AriServer
  readonly app: string
  /** Also the events of channels and endpoints that are not in the application. */
  readonly all?: boolean
  readonly onEvent: (event: AriEvent) => void
}

/** Asterisk sends nothing on an idle link, so the client sends requests. */
const PING_EVERY_MS = 5_000
const SILENT_FOR_MS = 10_000
const OPEN_WITHIN_MS = 5_000

/** Opens Asterisk's event stream. Rejects if it does not open. `closed` resolves with the reason when it has ended. */
export async function openEventSocket({ server, app, all, onEvent }: EventSocketOptions) {
  const url = new URL(`${server.url.pathname.replace(/\/$/, '')}/ari/events`, server.url)
  url.protocol = server.url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.searchParams.set('app', app)
  if (all === true) url.searchParams.set('subscribeAll', 'true')
  const dispatcher = new Agent({ connect: verifiedBy(server) })
  const socket = new WebSocket(url, { headers: { authorization: authorizationOf(server) }, dispatcher })

  let isEnded = false
  const opened = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<string>()
  let pings: NodeJS.Timeout | undefined
  let patience = startDeadline(OPEN_WITHIN_MS, () => end('timeout'))

  function end(reason: string): void {
    isEnded = true
    clearInterval(pings)
    patience.stop()
    opened.reject(new Error(`the event stream did not open: ${reason}`))
    closed.resolve(reason)
    socket.close()
    void dispatcher.destroy()
  }

  function heard(): void {
    if (isEnded) return
    patience.stop()
    patience = startDeadline(SILENT_FOR_MS, () => end('no answer to a ping'))
  }

  socket.addEventListener('open', () => {
    if (isEnded) return
    heard()
    opened.resolve()
    pings = setInterval(ping, PING_EVERY_MS)
  })
  socket.addEventListener('error', () => end('connection failed'))
  socket.addEventListener('close', ({ code }) => end(`closed with code ${code}`))
  socket.addEventListener('message', ({ data }: { data: unknown }) => {
    heard()
    const event = typeof data === 'string' ? parseEvent(data) : undefined
    if (event === undefined || event.type === 'RESTResponse') return
    // Another client uses our application name now. Asterisk leaves this stream open and sends nothing more on it.
    if (event.type === 'ApplicationReplaced') return end('replaced by another client')
    onEvent(event)
  })

  function ping(): void {
    const request = { transaction_id: 'ping', request_id: 'ping', method: 'GET', uri: 'asterisk/ping' }
    socket.send(JSON.stringify({ type: 'RESTRequest', ...request }))
  }

  await opened.promise
  return { closed: closed.promise, close: (): void => end('closed by us') }
}
