import { setTimeout as sleep } from 'node:timers/promises'
import { type CallId, type Tenant, Unavailable } from '@switchhook/contracts'
import {
  createAgentList,
  createDevices,
  createOneTalk,
  type DeviceTimer,
  type LegReport,
  type LinkState,
  legCommands,
  type PbxMemory,
  type Platform,
  type PlatformListener,
  PlatformUnavailable,
  type Surroundings,
} from '@switchhook/platform'
import { carryOut } from './actions/carry-out.ts'
import { createTalk } from './actions/tell-phone.ts'
import { pbxAgents, provisioned } from './agents.ts'
import { channelPath, createAriClient } from './ari/ari-client.ts'
import type { AriEvent } from './ari/ari-model.ts'
import { isApplicationName, MARK_VARIABLE } from './ari/channel-mark.ts'
import { reach } from './ari/read-calls.ts'
import { type PbxEvent, translateEvent } from './ari/translate-event.ts'
import type { AsteriskSettings } from './asterisk-config.ts'
import { createEventQueue } from './event-queue.ts'
import { createHandler } from './handle-event.ts'
import { createLeftovers, type UnknownChannels } from './leftovers/leftovers.ts'
import { createLink } from './link.ts'
import { createOpenLines } from './open-lines.ts'
import { createParties } from './parties.ts'
import { createReconcile } from './reconcile.ts'
import { YOUNG_MS } from './session/apply-channel-input.ts'
import { beginDial } from './session/begin.ts'
import type { Callee } from './session/input.ts'
import { createSessionStore, type SessionTimer } from './store/session-store.ts'
import { createSessions, unreadable } from './store/sessions.ts'

export interface AsteriskDeps extends AsteriskSettings, Omit<Surroundings, 'listener'> {
  readonly memory: PbxMemory
  readonly leaseMs: number
  /** Rejects unless the memory holds the calls of this installation. Nothing in Asterisk is removed without it. */
  readonly verifyStorage: () => Promise<void>
  readonly onLink: (state: LinkState) => void
  readonly onUnknown: (unknown: UnknownChannels) => void
}

export interface AsteriskPlatform extends Platform {
  /** A timer of the memory is due. Rejects if the timer must be repeated. */
  due(timer: { readonly tenant: Tenant; readonly payload: unknown }): Promise<void>
  readonly link: LinkState
  /** Stops immediately without releasing anything, like a process that dies. For tests. */
  kill(): Promise<void>
}

/** Q.850. In SIP 503. */
const CONGESTION = '42'
/** Asterisk's answer for a variable that is not set. */
const UNSET = 404
/** A phone that registers again within this time keeps its calls. */
const DEVICE_GRACE_MS = 2_000
/** Stored calls are compared with Asterisk's lists this often, and after every connect. */
const RECONCILE_EVERY_MS = 30_000
/** `start` waits this long for the event stream, which otherwise opens in the background. */
const CONNECTED_WITHIN_MS = 3_000
/** The wait before what could not be stored is repeated. */
const EVENT_AGAIN_MS = 100
/** An older command is refused: the api keeps the device of an agent who dials for 15 s, and clients give up. */
const MAX_COMMAND_AGE_MS = 10_000
/** The wait before a call is compared with Asterisk after an action that Asterisk did not answer. */
const CHECK_AGAIN_MS = 1_000

export function createAsterisk(deps: AsteriskDeps): AsteriskPlatform {
  const { server, app, memory, onError, now } = deps
  if (!isApplicationName(app)) throw new TypeError(`not the name of an application: ${JSON.stringify(app)}`)
  const agents = pbxAgents(deps.agents)
  const ari = createAriClient(server)
  const store = createSessionStore(memory)
  const parties = createParties({ ...deps, agents })
  let listener: PlatformListener | undefined
  const stopping = new AbortController()
  let ending: Promise<void> | undefined
  const events = createEventQueue()
  const underWay = new Set<Promise<unknown>>()

  const talk = createTalk(ari, deps.manager)
  const sessions = createSessions({
    store,
    now,
    onError,
    listener: () => listener,
    liveCalls: deps.liveCalls,
    carryOut: (session, action) => carryOut(actionDeps, session, action),
    onUnsettled: (session) => later(CHECK_AGAIN_MS, () => reconcile.one(session)),
    onConnected: (leg) => background(throughPause(() => oneTalk(leg))),
  })
  const oneTalk = createOneTalk({ legsOf, apply: (...step) => sessions.apply(...step), liveCalls: deps.liveCalls })
  const lines = createOpenLines({ agents, sessions, liveCalls: deps.liveCalls, now })
  const actionDeps = { ari, app, ringSeconds: deps.ringSeconds, talk, lines, ...parties }
  const devices = createDevices({
    storage: memory,
    onError,
    now,
    listener: () => listener,
    prefix: { record: 'asterisk-device', timer: 'asterisk:device' },
    timerMs: DEVICE_GRACE_MS,
  })
  const handle = createHandler({ agents, app, ari, devices, lines, parties, sessions, onError, now })
  const reconcile = createReconcile({
    ari,
    app,
    agents,
    store,
    sessions,
    removeLeftovers: createLeftovers({ ...deps, ari, store }),
    onError,
    handle,
    amongDevices: events.amongDevices,
  })
  const link = createLink({
    server,
    app,
    memory,
    leaseMs: deps.leaseMs,
    reach: () => reach(ari),
    onState: deps.onLink,
    onError,
    onOpen: () => {
      // A second comparison finds channels that were too young to be missed in the first one.
      later(YOUNG_MS, () => reconcile.all())
      return track(reconcile.all())
    },
    onEvent: (event) => background(events.run(event, () => onEvent(event))),
  })

  /** An event that cannot be stored now is repeated: Asterisk does not send it again, and its lists have no end reason. */
  async function onEvent(event: AriEvent): Promise<void> {
    const translated = translateEvent(event)
    if (translated === undefined) return
    try {
      await throughPause(() => handle(translated))
    } catch (error) {
      if (!stopping.signal.aborted) await refuseArrival(translated).catch(() => {})
      throw error
    }
  }

  /**
   * A caller who cannot be stored would hear nothing until Redis is back. The carrier can try another route. A channel with a
   * mark belongs to a call: another replica has found it. One that is stored by another replica between the two requests is
   * refused as well: the caller hears 503, and the call ends there before an agent can have answered.
   */
  async function refuseArrival(event: PbxEvent): Promise<void> {
    if (event.kind !== 'arrives' && event.kind !== 'phone-dials' && event.kind !== 'line-opens') return
    const path = channelPath(event.channel.id)
    const { status } = await ari.request('GET', `${path}/variable`, { variable: MARK_VARIABLE })
    if (status === UNSET) await ari.request('DELETE', path, { reason_code: CONGESTION })
  }

  async function throughPause(work: () => Promise<void>): Promise<void> {
    for (const endMs = performance.now() + deps.leaseMs; ; await sleep(EVENT_AGAIN_MS)) {
      try {
        return await work()
      } catch (error) {
        const isOutage = error instanceof PlatformUnavailable || error instanceof Unavailable
        // After a longer outage the event stream is opened again, and the calls are compared.
        if (!isOutage || stopping.signal.aborted || performance.now() > endMs) throw error
      }
    }
  }

  /** So that `stop` can wait for it. */
  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    const over = (): void => void underWay.delete(work)
    work.then(over, over)
    return work
  }

  function background(work: Promise<unknown>): void {
    track(work).catch((error: unknown) => onError('an event of Asterisk could not be handled', error))
  }

  function later(ms: number, work: () => Promise<unknown>): void {
    background(sleep(ms, undefined, { signal: stopping.signal }).then(work, () => {}))
  }

  function reconcileNowAndThen(): void {
    later(RECONCILE_EVERY_MS, async () => {
      reconcileNowAndThen()
      if (link.state === 'connected') await reconcile.all()
    })
  }

  /** @param work calls `requireInTime` last before its step, which may have to wait for earlier steps */
  function onceReached<T>(work: (requireInTime: () => void) => Promise<T>): Promise<T> {
    const endMs = performance.now() + MAX_COMMAND_AGE_MS
    return track(
      reach(ari).then(() =>
        work(() => {
          if (performance.now() > endMs) throw new PlatformUnavailable('the command had to wait for too long')
        }),
      ),
    )
  }

  async function legsOf(tenant: Tenant, callId: CallId): Promise<readonly LegReport[]> {
    const session = await sessions.find(tenant, callId).catch(unreadable)
    return session?.group.legs.filter((leg) => leg.callId === callId) ?? []
  }

  async function fallsDue(tenant: Tenant, timer: SessionTimer | DeviceTimer): Promise<void> {
    if ('deviceOf' in timer) {
      const agent = agents.find(tenant, timer.deviceOf)
      const device = await devices.report(tenant, timer.deviceOf)
      const isStillGone = device?.online === false && device.order === timer.since
      if (agent === undefined || !isStillGone) return
      const calls = await deps.liveCalls(tenant, agent.agentUri)
      for (const callId of [...calls.map((call) => call.callId), lines.sessionOf(agent).sessionId]) {
        await sessions.apply(tenant, callId, { kind: 'device-gone', agentUri: agent.agentUri })
      }
    } else if (timer.input === null) await reconcile.one({ tenant, sessionId: timer.sessionId })
    else await sessions.apply(tenant, timer.sessionId, timer.input)
  }

  async function end(release: boolean): Promise<void> {
    stopping.abort()
    if (!release) listener = undefined
    await link.stop(release)
    await Promise.allSettled(underWay)
    await sessions.stop()
    listener = undefined
    await ari.close()
  }

  return {
    async start(newListener) {
      listener = newListener
      reconcileNowAndThen()
      // oxlint-disable-next-line no-restricted-properties -- the start goes on either way, and the link connects later
      await Promise.race([link.start(), sleep(CONNECTED_WITHIN_MS, undefined, { ref: false })])
    },
    stop: () => (ending ??= end(true)),
    kill: () => (ending ??= end(false)),
    get link() {
      return link.state
    },
    due: ({ tenant, payload }) => track(fallsDue(tenant, payload as SessionTimer | DeviceTimer)),
    findAgent: async (tenant, agentUri) => {
      const agent = agents.find(tenant, agentUri)
      if (agent?.answer !== 'connected') return agent && provisioned(agent)
      const isOpen = (await lines.channelOf(tenant, agentUri)) !== undefined
      return { ...provisioned(agent), remoteAnswer: isOpen }
    },
    listAgents: createAgentList(deps.agents.map(provisioned)),
    dial: (command) =>
      onceReached(async (requireInTime) => {
        const { tenant, agentUri, destination } = command
        const caller = parties.agent(tenant, agentUri)
        const { refusal, ...called } = await parties.called(tenant, destination)
        const cli = called.kind === 'outside' ? parties.cliOf(command.cli) : null
        requireInTime()
        await sessions.begin(beginDial({ ...command, caller, called, cli, refusal, channelId: null }, now()))
      }),
    ...legCommands<Callee>({
      apply: ({ tenant, callId, agentUri }, step) => {
        const answer = agents.find(tenant, agentUri)?.answer ?? 'none'
        const how = answer === 'none' ? null : answer
        const shown = step.kind === 'transfer' && { cli: parties.cliOf(null) }
        return onceReached((requireInTime) =>
          sessions.apply(tenant, callId, async () => {
            requireInTime()
            return { ...step, how, ...shown }
          }),
        )
      },
      legsOf,
      partyOf: parties.called,
    }),
    lookUp: legsOf,
  }
}
