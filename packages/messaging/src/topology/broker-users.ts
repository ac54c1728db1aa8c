import type { Binding, Topology } from './topology.ts'

/** What a user of RabbitMQ may do. The permissions are regular expressions over the names of queues and exchanges. */
export interface BrokerUser {
  /** `management`: may read the management API. Empty: may not. */
  readonly tags: '' | 'management'
  /** Create and delete. */
  readonly configure: string
  /** Publish to an exchange; bind and unbind a queue. */
  readonly write: string
  /** Consume and purge a queue; bind a queue to an exchange. To create a queue that dead-letters also takes this. */
  readonly read: string
}

/** RabbitMQ searches for the expression anywhere in the name. */
const only = (...names: readonly string[]): string => `^(${names.join('|')})$`
const NOTHING = only('')
const EXCHANGES = String.raw`switchhook\..+`
const OF_FANOUT = String.raw`fanout\..+`
const OF_WORKERS = String.raw`delivery\..+`
const QUARANTINE = 'quarantine'

/**
 * Services look at the queues of others, which takes some permission on them from RabbitMQ 4.2.6 on. `write` harms least: it
 * can unbind a queue, but neither read, purge nor delete it.
 */
const write = only(EXCHANGES, OF_FANOUT, OF_WORKERS, QUARANTINE)

/** A user of RabbitMQ for each service, for the commands of operators, and for autoscalers. */
export const BROKER_USERS = {
  api: {
    tags: '',
    configure: only(EXCHANGES),
    write,
    read: only(EXCHANGES),
  },
  fanout: {
    tags: '',
    configure: only(EXCHANGES, OF_FANOUT, QUARANTINE),
    write,
    read: only(EXCHANGES, OF_FANOUT),
  },
  'delivery-worker': {
    tags: '',
    configure: only(EXCHANGES, OF_WORKERS, QUARANTINE),
    write,
    read: only(EXCHANGES, OF_WORKERS),
  },
  operator: { tags: '', configure: write, write, read: write },
  monitor: { tags: 'management', configure: NOTHING, write: NOTHING, read: NOTHING },
} as const satisfies Readonly<Record<string, BrokerUser>>

/**
 * The part of a topology that the user of a service may declare. Other services declare the rest, and it must exist
 * before this one is set up.
 * @throws if the service has no user
 */
export function declaredBy(service: string, topology: Topology): Topology {
  const user: BrokerUser | undefined = BROKER_USERS[service as keyof typeof BROKER_USERS]
  if (user === undefined) throw new Error(`${service} has no user in BROKER_USERS`)
  const mayDeclare = new RegExp(user.configure)
  const isOwn = ({ to }: Binding): boolean => mayDeclare.test(to)
  const queues = Object.entries(topology.queues)
  return {
    ...topology,
    queues: Object.fromEntries(queues.filter(([name]) => mayDeclare.test(name))),
    bindings: topology.bindings.filter(isOwn),
    expected: queues.map(([name]) => name).filter((name) => !mayDeclare.test(name)),
  }
}
