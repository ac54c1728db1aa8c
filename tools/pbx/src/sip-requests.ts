import { authorize, headerOf, newToken, type SipMessage, statusOf, uriIn } from './sip-message.ts'

export const HOST = '127.0.0.1'

export interface Outgoing {
  readonly method: string
  readonly uri: string
  readonly from: string
  readonly to: string
  readonly callId: string
  readonly more?: SipMessage['headers']
  readonly body?: string
}

/** The requests of one phone, and the responses that they wait for. */
export function createSipRequests(
  login: { readonly user: string; readonly password: string },
  contact: string,
  send: (message: SipMessage) => void,
) {
  const waiting = new Map<string, (response: SipMessage) => void>()
  let sequence = 0

  /** Sends a request, answers a challenge, acknowledges an INVITE's final response. Resolves with that response. */
  function request(out: Outgoing, authorization?: SipMessage['headers']): Promise<SipMessage> {
    sequence += 1
    const branch = `z9hG4bK${newToken()}`
    const cseq = `${sequence}`
    const headers: SipMessage['headers'] = [
      ...headersOf(out, branch, out.to, `${cseq} ${out.method}`),
      ['Contact', contact],
      ...(authorization ?? []),
      ...(out.more ?? []),
    ]
    const key = `${out.callId} ${cseq} ${out.method}`
    return new Promise((resolve) => {
      waiting.set(key, (response) => {
        const status = statusOf(response)
        if (status < 200) return
        waiting.delete(key)
        if (out.method === 'INVITE') acknowledge(out, response, branch, cseq)
        if (status !== 401 || authorization !== undefined) return resolve(response)
        const answer = authorize(headerOf(response, 'WWW-Authenticate'), login, out.method, out.uri)
        resolve(request(out, [['Authorization', answer]]))
      })
      send({ start: `${out.method} ${out.uri} SIP/2.0`, headers, body: out.body ?? '' })
    })
  }

  function acknowledge(out: Outgoing, response: SipMessage, branch: string, cseq: string): void {
    const isAccepted = statusOf(response) < 300
    const uri = isAccepted ? uriIn(headerOf(response, 'Contact')) : out.uri
    const ackBranch = isAccepted ? `z9hG4bK${newToken()}` : branch
    const headers = headersOf(out, ackBranch, headerOf(response, 'To'), `${cseq} ACK`)
    send({ start: `ACK ${uri} SIP/2.0`, headers, body: '' })
  }

  return {
    request: (out: Outgoing): Promise<SipMessage> => request(out),
    /** Hands a response to the request that waits for it. */
    respond: (response: SipMessage): void =>
      waiting.get(`${headerOf(response, 'Call-ID')} ${headerOf(response, 'CSeq')}`)?.(response),
  }
}

const headersOf = (out: Outgoing, branch: string, to: string, cseq: string): SipMessage['headers'] => [
  ['Via', `SIP/2.0/WS ${HOST};branch=${branch}`],
  ['Max-Forwards', '70'],
  ['From', out.from],
  ['To', to],
  ['Call-ID', out.callId],
  ['CSeq', cseq],
]
