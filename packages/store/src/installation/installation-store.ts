import { type InstallationId, isGuid } from '@switchhook/contracts'
import { INSTALLATION_KEY } from '../keys.ts'
import { type Redis, run, runScript } from '../redis/redis.ts'
import type { Ruling, StoredInstallation } from './installation-rule.ts'

/** Stores the id that ties a Redis to its messages in RabbitMQ. */
export interface InstallationStore {
  /** Undefined: this Redis is new or has lost its data. */
  read(): Promise<StoredInstallation | undefined>
  /** Creates the installation with this id if there is none. Resolves to the installation in Redis afterwards. */
  establish(id: InstallationId): Promise<StoredInstallation>
  /** Stores an operator's decision. A later decision replaces it. */
  decide(id: InstallationId, ruling: Ruling): Promise<void>
}

/** This field holds `<id> <ms since 1970>`. Each other field is the id of another installation, with its ruling. */
const OWN = 'own'

export function createInstallationStore(redis: Redis): InstallationStore {
  const read: InstallationStore['read'] = async () =>
    parse(await redis[run]((commands) => commands.hgetall(INSTALLATION_KEY)))

  const write = (field: string, value: string): Promise<0 | 1> =>
    runScript(redis, 'installation/write-installation', [INSTALLATION_KEY], [field, value])

  return {
    read,
    async establish(id) {
      // Read first, because a Redis that cannot write now, such as a replica, still answers reads.
      const present = await read()
      if (present !== undefined) return present
      await write(OWN, id)
      const stored = await read()
      if (stored === undefined) throw new Error(`${INSTALLATION_KEY} was deleted while the installation was created`)
      return stored
    },
    async decide(id, ruling) {
      await write(id, ruling)
    },
  }
}

function parse({ [OWN]: own, ...others }: Readonly<Record<string, string>>): StoredInstallation | undefined {
  if (own === undefined) return undefined
  const [id, createdAt] = own.split(' ')
  if (!isGuid(id)) throw new Error(`${INSTALLATION_KEY} holds no installation id`)
  return {
    id: id as InstallationId,
    createdAtMs: Number(createdAt),
    rulings: new Map(Object.entries(others) as [InstallationId, Ruling][]),
  }
}
