import { createHash, randomBytes } from 'node:crypto'

/** One SIP message (RFC 3261). Over WebSocket each frame holds exactly one (RFC 7118). */
export interface SipMessage {
  /** Request line or status line. */
  readonly start: string
  /** In their order; a name may occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export function parseSip(text: string): SipMessage {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [start = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
  })
  return { start, headers, body: rest.join('\r\n\r\n') }
}

export function writeSip({ start, headers, body }: SipMessage): string {
  const type: SipMessage['headers'] = body === '' ? [] : [['Content-Type', 'application/sdp']]
  const all = [...headers, ...type, ['Content-Length', String(Buffer.byteLength(body))] as const]
  return [start, ...all.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n')
}

export const headerOf = ({ headers }: SipMessage, name: string): string =>
  headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1] ?? ''

/** The method of a request, or the number of a response's status. */
export const methodOf = ({ start }: SipMessage): string => start.split(' ')[0] ?? ''
export const statusOf = ({ start }: SipMessage): number =>
  start.startsWith('SIP/2.0 ') ? Number(start.split(' ')[1]) : 0

/** The URI in a `Contact`, `From` or `To`. */
export const uriIn = (value: string): string => /<([^>]+)>/.exec(value)?.[1] ?? value

/** The tag of a `From` or `To`. */
export const tagOf = (value: string): string => /;tag=([^;>]+)/.exec(value)?.[1] ?? ''

export const newToken = (): string => randomBytes(8).toString('hex')

export function reply(request: SipMessage, status: string, more: SipMessage['headers'] = [], body = ''): SipMessage {
  const echoed = request.headers.filter(([name]) => /^(via|from|to|call-id|cseq|record-route)$/i.test(name))
  return { start: `SIP/2.0 ${status}`, headers: [...echoed, ...more], body }
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** Answers a digest challenge (RFC 7616, MD5). */
export function authorize(
  challenge: string,
  login: { user: string; password: string },
  method: string,
  uri: string,
): string {
  const field = (name: string): string => new RegExp(`${name}="?([^",]+)"?`).exec(challenge)?.[1] ?? ''
  const [realm, nonce, opaque] = [field('realm'), field('nonce'), field('opaque')]
  const secret = md5(`${login.user}:${realm}:${login.password}`)
  const cnonce = newToken()
  const response = md5(`${secret}:${nonce}:00000001:${cnonce}:auth:${md5(`${method}:${uri}`)}`)
  const known = `username="${login.user}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}"`
  return `Digest ${known}, algorithm=MD5, qop=auth, nc=00000001, cnonce="${cnonce}"${opaque === '' ? '' : `, opaque="${opaque}"`}`
}

let port = 30_000

/** A description of an audio stream that is never sent. */
export function noMedia(direction: 'sendrecv' | 'sendonly'): string {
  port = port >= 60_000 ? 30_000 : port + 2
  const lines = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0']
  return [...lines, `m=audio ${port} RTP/AVP 0`, 'a=rtpmap:0 PCMU/8000', `a=${direction}`, ''].join('\r\n')
}
