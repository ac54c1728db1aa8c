import { oneAtATime } from '@switchhook/runtime'
import type { PbxAgents } from './agents.ts'
import { type AriClient, applicationPath } from './ari/ari-client.ts'
import type { AriChannel, AriEndpoint } from './ari/ari-model.ts'
import { readMark, type SessionName } from './ari/channel-mark.ts'
import { type Calls, hasChannel, isHeldAtPhone, readCalls, readList } from './ari/read-calls.ts'
import { deviceEvent, entered, type PbxEvent } from './ari/translate-event.ts'
import type { ListedChannel, SessionInput } from './session/input.ts'
import { isFinished, isLive, type PbxSession } from './session/session.ts'
import type { SessionStore } from './store/session-store.ts'
import type { Sessions } from './store/sessions.ts'

export interface ReconcileDeps {
  readonly ari: AriClient
  readonly app: string
  readonly agents: PbxAgents
  readonly store: SessionStore
  readonly sessions: Sessions
  readonly removeLeftovers: (found: Calls) => Promise<void>
  readonly handle: (event: PbxEvent) => Promise<void>
  /** Runs between two events of devices, so that no state is overwritten by an older one. */
  readonly amongDevices: (work: () => Promise<void>) => Promise<void>
  readonly onError: (message: string, error: unknown) => void
}

type ListInput = Extract<SessionInput, { kind: 'listed' }>

/** These are most of Asterisk's events, and the adapter reads none of them. */
const UNREAD_EVENTS = ['ChannelVarset', 'ChannelDialplan', 'ChannelConnectedLine']

export function createReconcile(deps: ReconcileDeps) {
  const { ari, app, agents, store, sessions, handle, removeLeftovers, onError } = deps
  let startedAt: string | undefined

  /** A reading that is under way may have missed a channel that has just been created. */
  const freshCalls = oneAtATime(readCalls)

  async function lists() {
    const info = (await readList(ari, '/asterisk/info')) as {
      readonly system?: { readonly entity_id?: string }
      readonly status?: { readonly startup_time?: string }
    }
    const asteriskId = info.system?.entity_id ?? ''
    return { asteriskId, startedAt: info.status?.startup_time ?? '', ...(await readCalls(ari)) }
  }

  /** Asterisk may drop both with the event stream. */
  async function subscribe(): Promise<void> {
    const path = applicationPath(app)
    await ari.request('PUT', `${path}/eventFilter`, {}, { disallowed: UNREAD_EVENTS.map((type) => ({ type })) })
    const sources = agents.all.map(({ endpoint }) => `endpoint:PJSIP/${endpoint}`)
    for (const eventSource of sources) await ari.request('POST', `${path}/subscription`, { eventSource })
  }

  function inputFor(found: Calls, hasRestarted: boolean): ListInput {
    const bridgeOf = new Map(found.bridges.flatMap(({ id, channels }) => channels.map((channel) => [channel, id])))
    const channels = found.channels.map((channel) => listed(channel, app, bridgeOf.get(channel.id) ?? null))
    return { kind: 'listed', channels, hasRestarted }
  }

  /**
   * Looks up what the list does not say of the session's channels. Channels that Asterisk only lists are left out. They are in
   * no bridge, so only a channel that should be in one, or should have ended, and an agent's open line are looked up. An
   * event may be lost that says that a phone resumes, or that a line is on hold, on which calls are answered by command.
   */
  async function lookedUp({ channels }: PbxSession, list: ListInput): Promise<ListInput> {
    const listed = new Map(list.channels.map((channel) => [channel.id, channel]))
    for (const { id, bridge, isLeaving, origin, isHeldAtPhone: isHeld } of channels.filter(isLive)) {
      const found = listed.get(id)
      if (found === undefined) continue
      const isDoubtful = isLeaving || bridge !== null || origin === 'line'
      if (isDoubtful && found.bridge === null && !(await hasChannel(ari, id))) listed.delete(id)
      else if (isHeld || origin === 'lent') {
        const isHeldNow = await isHeldAtPhone(ari, id)
        if (isHeldNow !== undefined) listed.set(id, { ...found, isHeldAtPhone: isHeldNow })
      }
    }
    return { ...list, channels: [...listed.values()] }
  }

  /** @param list called after the earlier steps of the session are carried out */
  async function compare(session: PbxSession, list: () => Promise<ListInput>): Promise<void> {
    const { tenant, sessionId } = session.group
    await sessions.apply(tenant, sessionId, async () => lookedUp(session, await list()))
  }

  async function compareDevices(): Promise<void> {
    const endpoints = (await readList(ari, '/endpoints/PJSIP')) as readonly AriEndpoint[]
    for (const event of endpoints.flatMap((endpoint) => deviceEvent(endpoint) ?? [])) await handle(event)
  }

  /** Callers and agents who arrived while the event stream was closed, and open lines that may not be stored. */
  async function welcome(found: Awaited<ReturnType<typeof lists>>): Promise<void> {
    for (const channel of found.channels) {
      const { app_name: how, app_data: data } = channel.dialplan
      const [name, ...args] = data.split(',')
      if (how !== 'Stasis' || name !== app) continue
      const event = entered(channel, args, found.asteriskId)
      const isNew = readMark(app, channel) === undefined
      if (event?.kind === 'line-opens' || (isNew && event !== undefined && event.kind !== 'channel'))
        await handle(event)
    }
  }

  return {
    /** Compares every session with Asterisk, and removes channels and bridges without a session. */
    async all(): Promise<void> {
      const found = await lists()
      const hasRestarted = startedAt !== undefined && startedAt !== found.startedAt
      startedAt = found.startedAt
      await subscribe()
      const input = inputFor(found, hasRestarted)
      const listed = new Set(found.channels.map(({ id }) => id))
      for (const session of await store.unfinished()) {
        const stored = await sessions.find(session.tenant, session.sessionId)
        if (stored === undefined) continue
        // The list is older than this comparison, so only a new one proves that a channel is gone.
        const isMissing = stored.channels.some((channel) => isLive(channel) && !listed.has(channel.id))
        const list = async () => (isMissing ? inputFor(await freshCalls(ari), hasRestarted) : input)
        await compare(stored, list)
          .then(() => sessions.report(session.tenant, session.sessionId))
          .catch((error: unknown) => onError('a call could not be compared with Asterisk', error))
      }
      await removeLeftovers(found).catch((error: unknown) => onError('nothing was removed from Asterisk', error))
      await welcome(found)
      await deps.amongDevices(compareDevices)
    },
    async one(name: SessionName): Promise<void> {
      const session = await sessions.find(name.tenant, name.sessionId)
      if (session === undefined) return
      // First, because it does not need Asterisk. What the comparison finds is reported with it.
      await sessions.report(name.tenant, name.sessionId)
      if (!isFinished(session)) await compare(session, async () => inputFor(await freshCalls(ari), false))
    },
  }
}

function listed(channel: AriChannel, app: string, bridge: string | null): ListedChannel {
  const { id, state, dialplan } = channel
  const isReady = dialplan.app_name === 'Stasis' && dialplan.app_data.split(',')[0] === app
  const isMarked = readMark(app, channel) !== undefined
  return { id, bridge, isReady, isMarked, state: state === 'Up' ? 'up' : state === 'Ringing' ? 'ringing' : 'other' }
}
