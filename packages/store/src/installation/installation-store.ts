import { type InstallationId, isGuid } from '@switchhook/contracts'
import { INSTALLATION_KEY } from '../keys.ts'
import { type Redis, run, runScript } from '../redis/redis.ts'
import type { Ruling, StoredInstallation } from './installation-rule.ts'

/** This field holds `<id> <ms since 1970>`. Each other field is the id of another installation, with its ruling. */
const OWN = 'own'

export type InstallationStore = ReturnType<typeof createInstallationStore>

/** Stores the id that ties a Redis to its messages in RabbitMQ. */
export function createInstallationStore(redis: Redis) {
  /** Undefined: this Redis is new or has lost its data. */
  const read = async (): Promise<StoredInstallation | undefined> =>
    parse(await redis[run]((commands) => commands.hgetall(INSTALLATION_KEY)))

  const write = (field: string, value: string): Promise<0 | 1> =>
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
    async decide(id: InstallationId, ruling: Ruling): Promise<void> {
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
