import { join } from 'node:path'

/** The root of the repository. Both the source and the built version of this file are three folders below it. */
export const repository = join(import.meta.dirname, '..', '..', '..')

export const composeFile = join(repository, 'docker-compose.yml')
/** Added by `make up`: the ports on which processes of this machine reach RabbitMQ and Redis. */
export const composePortsFile = join(repository, 'tools', 'test-servers', 'compose.ports.yml')
const shippedFiles = join(repository, 'infra', 'helm', 'switchhook', 'files')
export const rabbitmqConfigFile = join(shippedFiles, 'rabbitmq.conf')
export const rabbitmqMembersConfigFile = join(shippedFiles, 'members.conf')
export const rabbitmqAdvancedConfigFile = join(shippedFiles, 'advanced.config')
export const redisConfigFile = join(shippedFiles, 'redis.conf')
