import { type AriClient, applicationPath, bridgePath, channelPath, type Query } from '../ari/ari-client.ts'
import type { AriChannel } from '../ari/ari-model.ts'
import { DIALLED_VARIABLE, MARK_VARIABLE, markOf, type SessionName } from '../ari/channel-mark.ts'
import { isHeldAtPhone } from '../ari/read-calls.ts'
import type { OpenLines } from '../open-lines.ts'
import type { Parties } from '../parties.ts'
import type { Action } from '../session/action.ts'
import type { Input } from '../session/input.ts'
import { tellTransfer } from './tell-phone.ts'

export interface CarryOutDeps extends Pick<Parties, 'endpointOf' | 'shownAs'> {
  readonly ari: AriClient
  readonly app: string
  readonly ringSeconds: number
  readonly talk: (channelId: string) => Promise<void>
  readonly lines: Pick<OpenLines, 'channelOf'>
}

/** Phones understand one header or the other. */
const AUTO_ANSWER = {
  'PJSIP_HEADER(add,Call-Info)': '<sip:pbx>;answer-after=0',
  'PJSIP_HEADER(add,Alert-Info)': '<http://pbx>;info=alert-autoanswer;delay=0',
}
/** Otherwise Asterisk itself would connect a party who transfers at the phone to any number of the dialplan. */
const TRANSFERS_LEFT_TO_US = { variable: 'PJSIP_TRANSFER_HANDLING()', value: 'ari-only' }
/** The trunk sends the number with `Privacy: id` (RFC 3325). */
const PROHIBITED = { 'CONNECTEDLINE(num-pres)': 'prohib', 'CONNECTEDLINE(name-pres)': 'prohib' }
const EXISTS = 409
const GONE = 404
/** Of a request to move a channel. Its end is reported by an event. */
const NO_SUCH_CHANNEL = 400

/** The type of a bridge in which a party waits on music. */
export const HOLDING = 'holding'

/** The name of our bridges, by which leftovers are recognized. */
export const bridgeName = (app: string): string => `switchhook ${app}`

/**
 * Asks Asterisk for one action. A refusal that says something about a party is returned as an input; others are left to the
 * events and to the next comparison with Asterisk's lists.
 * @throws AriUnavailable, and Error if a channel is not dialled, or not in the bridge where its party must be
 */
export async function carryOut(deps: CarryOutDeps, session: SessionName, action: Action): Promise<Input | undefined> {
  const { ari, app, ringSeconds } = deps
  switch (action.kind) {
    case 'create': {
      const { party } = action
      const lineId = party.kind === 'agent' ? await deps.lines.channelOf(session.tenant, party.agentUri) : undefined
      if (lineId !== undefined) {
        const { channelId } = action
        // The line outlives cuts of the event stream, so its hold is not stored.
        const isHeld = (await isHeldAtPhone(ari, lineId)) === true
        return { kind: 'line-lent', channelId, lineId, isHeldAtPhone: isHeld, ringMs: ringSeconds * 1_000 }
      }
      const answer = await create(deps, session, action)
      const isRefused = answer === undefined || (answer.status >= 400 && answer.status !== EXISTS)
      return isRefused ? { kind: 'refused', channelId: action.channelId } : undefined
    }
    case 'dial': {
      // A second INVITE ends a call that does not ring yet. Asterisk shows no trace of the first until media come.
      const path = channelPath(action.channelId)
      const { status } = await ari.request('GET', `${path}/variable`, { variable: DIALLED_VARIABLE })
      if (status === 200) return undefined
      const dialled = await ari.request('POST', `${path}/dial`, { timeout: String(ringSeconds) })
      // The end of a channel is reported by an event.
      if (dialled.status === GONE) return undefined
      if (isRefusal(dialled) && !(await isDialled(ari, path))) {
        throw new Error(`Asterisk answered ${dialled.status} to the dialling of a channel`)
      }
      // Last: a channel without the variable is dialled again. A party who is never called would not time out.
      await ari.request('POST', `${path}/variable`, { variable: DIALLED_VARIABLE, value: '1' })
      return undefined
    }
    case 'claim': {
      // The end of a channel that we did not create is not reported otherwise.
      const source = { eventSource: `channel:${action.channelId}` }
      await ari.request('POST', `${applicationPath(app)}/subscription`, source)
      await ari.request('POST', `${channelPath(action.channelId)}/variable`, TRANSFERS_LEFT_TO_US)
      // Last: a channel without the mark is claimed again.
      const mark = { variable: MARK_VARIABLE, value: markOf(app, session) }
      await ari.request('POST', `${channelPath(action.channelId)}/variable`, mark)
      return undefined
    }
    case 'ring':
    case 'answer': {
      const answer = await ari.request('POST', `${channelPath(action.channelId)}/${action.kind}`)
      // The end of a channel is reported by an event.
      if (isRefusal(answer) && answer.status !== GONE) {
        throw new Error(`Asterisk answered ${answer.status} to ${action.kind}`)
      }
      return undefined
    }
    case 'leave':
      await ari.request('POST', `${bridgePath(action.bridge)}/removeChannel`, { channel: action.channelId })
      return { kind: 'line-returned', lineId: action.channelId }
    case 'talk':
      await deps.talk(action.channelId)
      return undefined
    case 'move':
      await move(deps, action)
      return undefined
    case 'transfer-progress':
      await tellTransfer(ari, action.channelId, action.state)
      return undefined
    case 'drop':
      await ari.request('DELETE', channelPath(action.channelId), dropReason(action))
      return undefined
    case 'drop-bridge':
      await ari.request('DELETE', bridgePath(action.bridge))
      return undefined
  }
}

/**
 * Asterisk would call on behalf of a channel that it originates whatever the phone redirects to (302), any number of a trunk
 * included. It does not for a channel that is created and then dialled.
 */
async function create(deps: CarryOutDeps, session: SessionName, action: Extract<Action, { kind: 'create' }>) {
  const { channelId, party, originator, autoAnswer } = action
  const { app, ari } = deps
  const endpoint = deps.endpointOf(session.tenant, party)
  if (endpoint === null) return undefined
  const query = { endpoint, app, appArgs: party.kind, channelId, ...(originator !== null && { originator }) }
  const { number, name, isWithheld } = deps.shownAs(session.tenant, action.shows)
  const variables = {
    [MARK_VARIABLE]: markOf(app, session),
    [TRANSFERS_LEFT_TO_US.variable]: TRANSFERS_LEFT_TO_US.value,
    'CONNECTEDLINE(num)': number,
    ...(name !== undefined && { 'CONNECTEDLINE(name)': name }),
    ...(isWithheld && PROHIBITED),
    ...(autoAnswer && AUTO_ANSWER),
  }
  return ari.request('POST', '/channels/create', query, { variables })
}

async function move({ ari, app }: CarryOutDeps, action: Extract<Action, { kind: 'move' }>): Promise<void> {
  const path = bridgePath(action.bridge)
  // 409: the bridge exists.
  await ari.request('POST', path, { type: action.waits ? HOLDING : 'mixing', name: bridgeName(app) })
  // First: a party in the bridge is not moved again, and would hear nothing.
  const music = action.waits ? await ari.request('POST', `${path}/moh`) : undefined
  if (music !== undefined && isRefusal(music)) throw new Error(`Asterisk answered ${music.status} to music in a bridge`)
  // Without `inhibitConnectedLineUpdates` a customer is shown the agent's extension instead of the cli.
  const join = (channels: readonly string[]) =>
    ari.request('POST', `${path}/addChannel`, { channel: channels.join(','), inhibitConnectedLineUpdates: 'true' })
  const answers = [await join(action.channelIds)]
  // One channel that has ended keeps the others out.
  if (answers.some(isRefusal) && action.channelIds.length > 1) {
    answers.length = 0
    for (const id of action.channelIds) answers.push(await join([id]))
  }
  const refusal = answers.find((answer) => isRefusal(answer) && answer.status !== NO_SUCH_CHANNEL)
  if (refusal !== undefined) throw new Error(`Asterisk answered ${refusal.status} to a move into a bridge`)
}

/** The channel rings or is up: it was dialled before, by a process that died or by another replica. */
async function isDialled(ari: AriClient, path: string): Promise<boolean> {
  const { status, body } = await ari.request('GET', path)
  return status === 200 && (body as AriChannel).state !== 'Down'
}

const isRefusal = ({ status }: { readonly status: number }): boolean => status >= 400

function dropReason({ cause, elsewhere }: Extract<Action, { kind: 'drop' }>): Query {
  if (elsewhere) return { reason: 'answered_elsewhere' }
  return cause === null ? { reason: 'normal' } : { reason_code: String(cause) }
}
