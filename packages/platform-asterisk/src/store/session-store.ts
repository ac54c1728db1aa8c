import type { CallId, Tenant } from '@switchhook/contracts'
import { aliasesOf, aliasTo, type CallGroup, type PbxMemory, readByCall } from '@switchhook/platform'
import type { SessionName } from '../ari/channel-mark.ts'
import type { Input } from '../session/input.ts'
import { isFinished, isLive, type PbxSession } from '../session/session.ts'
import type { LaterInput } from '../session/session-draft.ts'

/** The payload of a session's timer. `input` null: compare with Asterisk, and repeat missing reports. */
export interface SessionTimer {
  readonly sessionId: CallId
  readonly input: Input | null
}

export type Loaded = NonNullable<Awaited<ReturnType<typeof loadSession>>>

/** Of an unfinished session without a live channel, such as an agent's closed line. */
const KEPT_MS = 24 * 60 * 60_000
/** Of a session with a live channel. The comparison with Asterisk ends a channel that is lost. */
const KEPT_FOREVER = 0
/** A finished session is kept for late commands. */
const KEPT_AFTER_MS = 15 * 60_000
/** After this time another replica completes the step of a dead one, and a missing report is repeated. */
const CHECK_AFTER_MS = 5_000
const PREFIX = 'asterisk:'

export type SessionStore = ReturnType<typeof createSessionStore>

export async function loadSession(memory: Pick<PbxMemory, 'read'>, tenant: Tenant, callId: CallId) {
  const found = await readByCall(memory, keyOf, tenant, callId)
  return found && { session: found.value as PbxSession, version: found.version }
}

export function createSessionStore(memory: PbxMemory) {
  return {
    load: (tenant: Tenant, callId: CallId) => loadSession(memory, tenant, callId),
    /**
     * @param known calls that have been stored before
     * @param absorbed a session whose calls are part of this one now
     */
    save(
      session: PbxSession,
      expectedVersion: number,
      later: readonly LaterInput[],
      known: CallGroup['calls'],
      absorbed?: Loaded,
    ): Promise<'committed' | 'conflict'> {
      const { tenant, sessionId } = session.group
      const isOver = isFinished(session)
      const timer = (name: string, dueInMs: number, input: SessionTimer['input']) => {
        const payload: SessionTimer = { sessionId, input }
        return { id: `${PREFIX}${sessionId}:${name}`, dueInMs, payload }
      }
      const aliases = aliasesOf(session.group, known, keyOf)
      if (absorbed !== undefined) {
        aliases.push(aliasTo(sessionId, keyOf(absorbed.session.group.sessionId), absorbed.version))
      }
      return memory.write(tenant, {
        records: [
          {
            key: keyOf(sessionId),
            expectedVersion,
            value: session,
            ttlMs: isOver ? KEPT_AFTER_MS : session.channels.some(isLive) ? KEPT_FOREVER : KEPT_MS,
            isListed: !isOver,
          },
          ...aliases,
        ],
        timers: [
          timer('check', CHECK_AFTER_MS, null),
          ...later.map(({ input, dueInMs }) => timer(`${input.kind}:${subjectOf(input)}`, dueInMs, input)),
        ],
      })
    },
    /** Sessions that are not finished, and perhaps some that are. */
    async unfinished(): Promise<readonly SessionName[]> {
      const listed = await memory.list()
      return listed.flatMap(({ tenant, key }) =>
        key.startsWith(PREFIX) ? [{ tenant, sessionId: key.slice(PREFIX.length) as CallId }] : [],
      )
    },
  }
}

const subjectOf = (input: Input): string =>
  'commandId' in input ? String(input.commandId) : 'lineId' in input ? input.lineId : ''

const keyOf = (callId: CallId): string => `${PREFIX}${callId}`
