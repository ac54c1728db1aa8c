import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { opened } from './opened.ts'
import {
  headerOf,
  methodOf,
  newToken,
  noMedia,
  parseSip,
  reply,
  type SipMessage,
  statusOf,
  tagOf,
  uriIn,
  writeSip,
} from './sip-message.ts'
import { createSipRequests, HOST, type Outgoing } from './sip-requests.ts'

export interface SipPhoneOptions {
  /** Endpoint, and user of its login. */
  readonly name: string
  readonly password: string
  /** Asterisk's WebSocket for SIP. */
  readonly url: string
  /** `talk`: answers and resumes at a NOTIFY. `header`: obeys the auto-answer headers of a call. */
  readonly understands: readonly ('talk' | 'header')[]
  /** Of a registration, which the phone renews in time; absent: ten minutes. */
  readonly expiresSeconds?: number
}

interface PhoneCall {
  readonly id: string
  readonly mine: string
  readonly theirs: string
  readonly target: string
  /** Set while the call rings here; null: it is up. */
  readonly invite: SipMessage | null
}

export type SipPhone = ReturnType<typeof createSipPhone>

const REGISTERED_WITHIN_MS = 2_000

/** A SIP phone without media, steered by a program. Speaks SIP over WebSocket, so nothing is retransmitted. */
export function createSipPhone({ name, password, url, understands, expiresSeconds = 600 }: SipPhoneOptions) {
  const aor = `sip:${name}@${HOST}`
  const contact = `<sip:${name}@${newToken()}.invalid;transport=ws>`
  const calls = new Map<string, PhoneCall>()
  const transferResults: string[] = []
  let socket: WebSocket | undefined
  /** Milliseconds since 1970; the registration has expired then. */
  let registeredUntilMs = 0
  let renewal: NodeJS.Timeout | undefined
  let registering: Promise<void> | undefined
  let isIgnored = false
  /** To a call. */
  let firstResponse = '180 Ringing'
  let redirectsTo = contact

  const send = (message: SipMessage): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(writeSip(message))
  }

  const { request, respond } = createSipRequests({ user: name, password }, contact, send)

  const inCall = (call: PhoneCall, method: string, more: SipMessage['headers'] = [], body = ''): Promise<SipMessage> =>
    request({ method, uri: call.target, from: call.mine, to: call.theirs, callId: call.id, more, body })

  function accept(call: PhoneCall): void {
    if (call.invite === null) return
    calls.set(call.id, { ...call, invite: null })
    sendOk(call, call.invite)
  }

  const sendOk = (call: PhoneCall, request: SipMessage): void =>
    sendResponse(call, request, '200 OK', [['Contact', contact]], noMedia('sendrecv'))

  /** A response in a dialog has our tag. */
  function sendResponse(call: PhoneCall, ...response: Parameters<typeof reply>): void {
    const { headers, ...rest } = reply(...response)
    send({ ...rest, headers: headers.map(([key, value]) => [key, key.toLowerCase() === 'to' ? call.mine : value]) })
  }

  function rings(message: SipMessage): void {
    const id = headerOf(message, 'Call-ID')
    const known = calls.get(id)
    if (known !== undefined) return sendOk(known, message)
    const to = headerOf(message, 'To')
    const call: PhoneCall = {
      id,
      mine: `${to};tag=${newToken()}`,
      theirs: headerOf(message, 'From'),
      target: uriIn(headerOf(message, 'Contact')),
      invite: message,
    }
    calls.set(id, call)
    const asked = `${headerOf(message, 'Call-Info')} ${headerOf(message, 'Alert-Info')}`
    if (!isIgnored && understands.includes('header') && /answer-after=0|autoanswer/i.test(asked)) return accept(call)
    if (Number.parseInt(firstResponse, 10) >= 300) calls.delete(id)
    sendResponse(call, message, firstResponse, [
      ['Contact', redirectsTo],
      ['Allow-Events', 'talk, hold'],
    ])
  }

  /** RFC 3515: the status line of the transfer is the body. */
  function transferNotified(message: SipMessage): void {
    send(reply(message, '200 OK'))
    transferResults.push(message.body.trim())
  }

  function notified(message: SipMessage, call: PhoneCall | undefined): void {
    if (headerOf(message, 'Event').startsWith('refer')) return transferNotified(message)
    const isTalk = headerOf(message, 'Event') === 'talk' && understands.includes('talk')
    send(reply(message, isTalk ? '200 OK' : '489 Bad Event'))
    if (!isTalk || call === undefined) return
    if (call.invite !== null) accept(call)
    else void inCall(call, 'INVITE', [], noMedia('sendrecv'))
  }

  function receive(message: SipMessage): void {
    const method = methodOf(message)
    const id = headerOf(message, 'Call-ID')
    const call = calls.get(id)
    if (statusOf(message) > 0) return respond(message)
    if (method === 'INVITE') return rings(message)
    if (method === 'NOTIFY') return notified(message, call)
    if (method === 'ACK') return
    send(reply(message, '200 OK'))
    if (method === 'BYE') calls.delete(id)
    if (method === 'CANCEL' && call?.invite != null) {
      calls.delete(id)
      sendResponse(call, call.invite, '487 Request Terminated')
    }
  }

  async function call(id: string, mine: string, out: Outgoing): Promise<void> {
    const response = await request(out)
    if (statusOf(response) !== 200) return
    const target = uriIn(headerOf(response, 'Contact'))
    calls.set(id, { id, mine, theirs: headerOf(response, 'To'), target, invite: null })
  }

  const ringing = (): PhoneCall =>
    need(
      [...calls.values()].find(({ invite }) => invite !== null),
      'no call rings',
    )
  const upCalls = (): readonly PhoneCall[] => [...calls.values()].filter(({ invite }) => invite === null)
  const talking = (): PhoneCall => need(upCalls().at(-1), 'no call is up')

  function refer(call: PhoneCall, target: string): void {
    void inCall(call, 'REFER', [
      ['Refer-To', `<${target}>`],
      ['Referred-By', `<${aor}>`],
    ])
  }

  function need(call: PhoneCall | undefined, why: string): PhoneCall {
    if (call === undefined) throw new Error(`${name}: ${why}`)
    return call
  }

  /** Whether Asterisk has registered the phone. */
  function accepted(response: SipMessage | undefined): boolean {
    const isOk = response !== undefined && statusOf(response) === 200
    if (isOk) registeredUntilMs = Date.now() + expiresSeconds * 1_000
    return isOk
  }

  async function register(): Promise<void> {
    // The calls of an earlier connection are lost.
    calls.clear()
    forgetRegistration()
    const connection = new WebSocket(url, { protocols: ['sip'] })
    socket = connection
    await opened(connection, name)
    connection.addEventListener('message', ({ data }: { data: unknown }) => receive(parseSip(String(data))))
    const uri = `sip:${HOST}`
    const from = `<${aor}>;tag=${newToken()}`
    const out = { method: 'REGISTER', uri, from, to: `<${aor}>`, callId: newToken() }
    // A starting Asterisk accepts the connection before it answers SIP.
    const ask = () =>
      Promise.race([
        request({ ...out, more: [['Expires', String(expiresSeconds)]] }),
        sleep(REGISTERED_WITHIN_MS, undefined, { ref: false }),
      ])
    const response = await ask()
    if (accepted(response)) {
      renewal = setInterval(() => void ask().then(accepted), (expiresSeconds * 1_000) / 2).unref()
      return
    }
    connection.close()
    throw new Error(`${name}: ${response?.start ?? 'no answer to REGISTER'}`)
  }

  function forgetRegistration(): void {
    clearInterval(renewal)
    registeredUntilMs = 0
  }

  return {
    /** Connects and registers. Concurrent calls share one connection. Rejects if Asterisk does not accept it in time. */
    register(): Promise<void> {
      registering ??= register().finally(() => {
        registering = undefined
      })
      return registering
    },
    /** The cable is pulled: Asterisk drops the registration immediately and leaves the calls up. */
    die(): void {
      calls.clear()
      forgetRegistration()
      socket?.close()
      socket = undefined
    },
    get isRegistered(): boolean {
      return Date.now() < registeredUntilMs && socket?.readyState === WebSocket.OPEN
    },
    /** What the phone shows of the party of the newest call: its `From`. */
    get caller(): string {
      return [...calls.values()].at(-1)?.theirs ?? ''
    },
    /** Ringing or not; the newest last. */
    get calls(): readonly { readonly isTalking: boolean }[] {
      return [...calls.values()].map(({ invite }) => ({ isTalking: invite === null }))
    },
    /** Rings even if the call has auto-answer headers. */
    ignoreRequestsToAnswer(ignored: boolean): void {
      isIgnored = ignored
    },
    /** The response to the calls that follow, such as `183 Session Progress`, or `486 Busy Here` for do not disturb; of a 302 also the user of the new address. */
    respondWith(status: string, redirectsToUser?: string): void {
      firstResponse = status
      redirectsTo = redirectsToUser === undefined ? contact : `<sip:${encodeURIComponent(redirectsToUser)}@${HOST}>`
    },
    answer: (): void => accept(ringing()),
    decline(status = '486 Busy Here'): void {
      const call = ringing()
      calls.delete(call.id)
      if (call.invite !== null) sendResponse(call, call.invite, status)
    },
    hangup(): void {
      const call = talking()
      calls.delete(call.id)
      void inCall(call, 'BYE')
    },
    async hold(isHeld: boolean): Promise<void> {
      await inCall(talking(), 'INVITE', [], noMedia(isHeld ? 'sendonly' : 'sendrecv'))
    },
    dial(number: string): void {
      const uri = `sip:${number}@${HOST}`
      const id = newToken()
      const mine = `<${aor}>;tag=${newToken()}`
      const out = { method: 'INVITE', uri, from: mine, to: `<${uri}>`, callId: id, body: noMedia('sendrecv') }
      void call(id, mine, out)
    },
    /** Blind: the party of the newest call is sent to the number. */
    transfer: (number: string): void => refer(talking(), `sip:${number}@${HOST}`),
    /** Attended: the party of the call before the newest one is connected to the party of the newest one. */
    joinCalls(): void {
      const newest = talking()
      const before = need(upCalls().at(-2), 'only one call is up')
      const replaces = `${newest.id};to-tag=${tagOf(newest.theirs)};from-tag=${tagOf(newest.mine)}`
      refer(before, `${newest.target}?Replaces=${encodeURIComponent(replaces)}`)
    },
    /** The status lines that the phone was sent of its transfers, provisional ones included, the newest last. */
    get transferResults(): readonly string[] {
      return [...transferResults]
    },
  }
}
