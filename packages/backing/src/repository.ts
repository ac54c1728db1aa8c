import { join } from 'node:path'

/** The checkout's top folder. This file lies three folders below it both as a source and as built. */
export const repository = join(import.meta.dirname, '..', '..', '..')

export const composeFile = join(repository, 'docker-compose.yml')
/** What `make up` adds to it: the ports on which processes of this machine reach the broker and Redis. */
export const composePortsFile = join(repository, 'packages', 'backing', 'compose.ports.yml')
export const rabbitmqConfigFile = join(repository, 'infra', 'rabbitmq', 'rabbitmq.conf')
export const redisConfigFile = join(repository, 'infra', 'redis', 'redis.conf')
