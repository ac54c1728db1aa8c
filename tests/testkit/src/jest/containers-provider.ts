import { readFileSync } from 'node:fs'
import {
  amqpAnswers,
  type BackingProvider,
  BackingUnavailable,
  composeFile,
  httpAnswers,
  missingDocker,
  type RabbitmqAddress,
  type RedisAddress,
  rabbitmqAdvancedConfigFile,
  rabbitmqConfigFile,
  redisAnswers,
  redisConfigFile,
  type Say,
  startWanted,
  waitUntil,
  withProgress,
} from '@switchhook/test-servers'
import type { GenericContainer, StartedTestContainer } from 'testcontainers'

/** RabbitMQ's user `guest` may connect from the container's own loopback only. */
const USER = 'switchhook'

const STARTUP_MS = 120_000

/** Starts throw-away containers of the images that docker-compose.yml pins. */
export function containersProvider(say: Say): BackingProvider {
  const started: StartedTestContainer[] = []

  const start = async (
    image: string,
    prepare: (container: GenericContainer) => void,
  ): Promise<StartedTestContainer> => {
    const { GenericContainer } = await import('testcontainers')
    const container = new GenericContainer(image).withStartupTimeout(STARTUP_MS)
    prepare(container)
    try {
      const running = await withProgress(say, `container of ${image}`, container.start())
      started.push(running)
      return running
    } catch (error) {
      throw new BackingUnavailable(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
    }
  }
  // A published port accepts connections before the server does, so only an answer proves that it is up.
  const answering = async (what: string, answers: () => Promise<boolean>): Promise<void> => {
    if (await withProgress(say, `${what} is starting`, waitUntil(answers, STARTUP_MS))) return
    throw new BackingUnavailable(`${what} did not answer within ${STARTUP_MS / 1_000} s`)
  }

  const rabbitmq = async (): Promise<RabbitmqAddress> => {
    const container = await start(pinnedImage('rabbitmq'), (it) =>
      it
        .withExposedPorts(5672, 15672)
        .withCopyFilesToContainer([
          { source: rabbitmqConfigFile, target: '/etc/rabbitmq/conf.d/20-switchhook.conf' },
          { source: rabbitmqAdvancedConfigFile, target: '/etc/rabbitmq/advanced.config' },
        ])
        .withEnvironment({ RABBITMQ_DEFAULT_USER: USER, RABBITMQ_DEFAULT_PASS: USER, ERL_MAX_PORTS: '65536' }),
    )
    const host = container.getHost()
    const [amqp, management] = [container.getMappedPort(5672), container.getMappedPort(15672)]
    await answering(
      'RabbitMQ',
      async () => (await amqpAnswers(amqp, host)) && httpAnswers(`http://${host}:${management}/`),
    )
    return {
      amqpUrl: `amqp://${USER}:${USER}@${host}:${amqp}`,
      managementUrl: `http://${USER}:${USER}@${host}:${management}`,
      control: {
        command: 'docker',
        args: ['exec', '--interactive', container.getId(), 'rabbitmqctl', 'eval'],
        env: {},
      },
    }
  }
  const redis = async (): Promise<RedisAddress> => {
    const container = await start(pinnedImage('redis'), (it) =>
      it
        .withExposedPorts(6379)
        .withCopyFilesToContainer([{ source: redisConfigFile, target: '/usr/local/etc/redis/redis.conf' }])
        .withCommand('redis-server /usr/local/etc/redis/redis.conf --protected-mode no --databases 64'.split(' ')),
    )
    const [host, port] = [container.getHost(), container.getMappedPort(6379)]
    await answering('Redis', () => redisAnswers(port, host))
    return { redisUrl: `redis://${host}:${port}` }
  }
  const stop = async (): Promise<void> => {
    await Promise.all(started.splice(0).map((container) => container.stop()))
  }

  return {
    name: 'docker',
    missing: missingDocker,
    start: (wanted) => startWanted(wanted, { rabbitmq, redis }, stop),
    stop,
  }
}

function pinnedImage(name: string): string {
  const image = new RegExp(`^\\s+image: (${name}:\\S+)$`, 'm').exec(readFileSync(composeFile, 'utf8'))?.[1]
  if (image === undefined) throw new Error(`docker-compose.yml names no image of ${name}`)
  return image
}
