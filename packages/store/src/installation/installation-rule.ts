import type { InstallationId } from '@switchhook/contracts'

export interface InstallationIdentity {
  readonly id: InstallationId
  /** ms since 1970, by the clock of the process that created the id. */
  readonly createdAtMs: number
}

/** An operator's decision about the messages of another installation. */
export type Verdict = 'adopted' | 'discarded'

/** The installation record in Redis. */
export interface StoredInstallation extends InstallationIdentity {
  readonly verdicts: ReadonlyMap<InstallationId, Verdict>
}

/** Redis holds the installation of this process, one that the process must continue, none, or one it must not trust. */
export type Standing = 'same' | 'continue' | 'missing' | 'other'

/**
 * A younger id means that Redis lost its data and another process created a new id in the empty Redis. An older id means
 * that the data was restored after this process started on the empty Redis, so the process continues the older
 * installation.
 */
export function standingOf(own: InstallationIdentity, stored: StoredInstallation | undefined): Standing {
  if (stored === undefined) return 'missing'
  if (stored.id === own.id) return 'same'
  const isContinued = stored.verdicts.get(own.id) === 'adopted' || stored.createdAtMs < own.createdAtMs
  return isContinued ? 'continue' : 'other'
}

/**
 * Where a message comes from. 'own' and 'adopted' messages are handled, 'discarded' ones go to quarantine, and a 'foreign'
 * one makes its consumer pause.
 */
export function originOf(message: InstallationId, stored: StoredInstallation): 'own' | Verdict | 'foreign' {
  return message === stored.id ? 'own' : (stored.verdicts.get(message) ?? 'foreign')
}
