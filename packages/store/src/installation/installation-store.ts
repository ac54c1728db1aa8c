import { type InstallationId, isGuid } from '@switchhook/contracts'
import { INSTALLATION_KEY } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'

/** An operator's decision about the messages of another installation. */
export type Ruling = 'adopted' | 'discarded'

export type StoredInstallation = NonNullable<ReturnType<typeof parse>>

/**
 * Whether Redis holds the installation of this process, or one that the process must continue. A younger id means that Redis
 * lost its data and another process created a new id in the empty Redis. An older id means that the data was restored after
 * this process started on the empty Redis, so the process continues the older installation.
 */
export const mayContinue = (
  own: Omit<StoredInstallation, 'rulings'>,
  stored: StoredInstallation | undefined,
): stored is StoredInstallation =>
  stored !== undefined &&
  (stored.id === own.id || stored.rulings.get(own.id) === 'adopted' || stored.createdAtMs < own.createdAtMs)

/** 'own' and 'adopted' messages are handled, 'discarded' ones quarantined; a 'foreign' one makes its consumer pause. */
export function originOf(message: InstallationId, stored: StoredInstallation): 'own' | Ruling | 'foreign' {
  return message === stored.id ? 'own' : (stored.rulings.get(message) ?? 'foreign')
}

/** This field holds `<id> <ms since 1970>`. Each other field is the id of another installation, with its ruling. */
const OWN = 'own'

export type InstallationStore = ReturnType<typeof createInstallationStore>

/** Stores the id that ties a Redis to its messages in RabbitMQ. */
export function createInstallationStore(redis: Redis) {
  /** Undefined: this Redis is new or has lost its data. */
  const read = async (): Promise<StoredInstallation | undefined> =>
    parse(await redis[execute]((commands) => commands.hgetall(INSTALLATION_KEY)))

  const write = (field: string, value: string): Promise<void> =>
    runScript(redis, 'installation/write-installation', [INSTALLATION_KEY], [field, value])

  return {
    read,
    /** Creates the installation with this id if there is none. Resolves to the installation in Redis afterwards. */
    async establish(id: InstallationId): Promise<StoredInstallation> {
      // Read first, because a Redis that cannot write now, such as a replica, still answers reads.
      const present = await read()
      if (present !== undefined) return present
      await write(OWN, id)
      const stored = await read()
      if (stored === undefined) throw new Error(`${INSTALLATION_KEY} was deleted while the installation was created`)
      return stored
    },
    /** Stores an operator's decision. A later decision replaces it. */
    decide: (id: InstallationId, ruling: Ruling): Promise<void> => write(id, ruling),
  }
}

function parse({ [OWN]: own, ...others }: Readonly<Record<string, string>>) {
  if (own === undefined) return undefined
  const [id, createdAt] = own.split(' ')
  if (!isGuid(id)) throw new Error(`${INSTALLATION_KEY} holds no installation id`)
  return {
    id: id as InstallationId,
    /**
     * ms since 1970, by Redis' clock. With the clocks of the hosts, one host whose clock is before the birth of the
     * installation would create an older id in an emptied Redis.
     */
    createdAtMs: Number(createdAt),
    rulings: new Map(Object.entries(others) as [InstallationId, Ruling][]),
  }
}
