import type { InstallationId } from '@switchhook/contracts'

/** An operator's decision about the messages of another installation. */
export type Ruling = 'adopted' | 'discarded'

export interface StoredInstallation {
  readonly id: InstallationId
  /**
   * ms since 1970, by Redis' clock. With the clocks of the hosts, one host whose clock is before the birth of the
   * installation would create an older id in an emptied Redis.
   */
  readonly createdAtMs: number
  readonly rulings: ReadonlyMap<InstallationId, Ruling>
}

/** Redis holds the installation of this process, one that the process must continue, none, or one it must not trust. */
export type InstallationMatch = 'same' | 'continue' | 'missing' | 'other'

/**
 * A younger id means that Redis lost its data and another process created a new id in the empty Redis. An older id means
 * that the data was restored after this process started on the empty Redis, so the process continues the older
 * installation.
 */
export function matchInstallation(
  own: Omit<StoredInstallation, 'rulings'>,
  stored: StoredInstallation | undefined,
): InstallationMatch {
  if (stored === undefined) return 'missing'
  if (stored.id === own.id) return 'same'
  const isContinued = stored.rulings.get(own.id) === 'adopted' || stored.createdAtMs < own.createdAtMs
  return isContinued ? 'continue' : 'other'
}

/**
 * Where a message comes from. 'own' and 'adopted' messages are handled, 'discarded' ones go to quarantine, and a 'foreign'
 * one makes its consumer pause.
 */
export function originOf(message: InstallationId, stored: StoredInstallation): 'own' | Ruling | 'foreign' {
  return message === stored.id ? 'own' : (stored.rulings.get(message) ?? 'foreign')
}
