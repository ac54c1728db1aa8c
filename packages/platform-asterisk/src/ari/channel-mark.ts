import { type CallId, isGuid, type Tenant, uuidV5 } from '@switchhook/contracts'
import type { AriChannel } from './ari-model.ts'

/**
 * The channel variable with the channel's session. `channelvars = SH_CALL` in `ari.conf` makes Asterisk repeat it in every
 * event and list, so every replica recognizes every channel.
 */
export const MARK_VARIABLE = 'SH_CALL'

/** The channel variable of a channel that has been dialled. */
export const DIALLED_VARIABLE = 'SH_DIALLED'

export interface SessionName {
  readonly tenant: Tenant
  readonly sessionId: CallId
}

/** Of an application: the name is part of every channel's mark and of Asterisk's dialplan. */
const APP_NAME = /^[A-Za-z0-9_-]{1,64}$/

export const isApplicationName = (name: string): boolean => APP_NAME.test(name)

/** The application's name comes first: two installations may share an Asterisk. */
export const markOf = (app: string, { tenant, sessionId }: SessionName): string => `${app}:${sessionId}:${tenant ?? ''}`

export function readMark(app: string, { channelvars }: AriChannel): SessionName | undefined {
  const [marked, sessionId, ...tenant] = channelvars?.[MARK_VARIABLE]?.split(':') ?? []
  if (marked !== app || !isGuid(sessionId)) return undefined
  return { tenant: tenant.join(':') === '' ? null : tenant.join(':'), sessionId: sessionId as CallId }
}

/** Asterisk's channel ids are unique for one Asterisk since its start. */
const NAMESPACE = '6f0c1a52-93a4-5d0e-8c3b-5b1f7a2d4e90'

/** The id of a call that began in Asterisk: the same wherever it is derived. */
export const arrivedCallId = (asteriskId: string, { id, creationtime }: AriChannel): CallId =>
  uuidV5(NAMESPACE, `${asteriskId} ${id} ${creationtime}`) as CallId

/** The session of an agent's line: the same each time the agent opens it. */
export const lineSession = (tenant: Tenant, agentUri: string): SessionName => ({
  tenant,
  sessionId: uuidV5(NAMESPACE, JSON.stringify(['line', tenant, agentUri])) as CallId,
})
