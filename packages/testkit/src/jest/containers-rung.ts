import { readFileSync } from 'node:fs'
import {
  composeFile,
  missingDocker,
  type RabbitmqAddress,
  type RedisAddress,
  type Rung,
  RungUnavailable,
  type Say,
  startWanted,
  withProgress,
} from '@switchhook/local'
import type { StartedTestContainer } from 'testcontainers'

/** The broker's guest may log in from its own loopback only. */
const USER = 'switchhook'

/** Throw-away containers of the images that docker-compose.yml pins. */
export function containersRung(say: Say): Rung {
  const started: StartedTestContainer[] = []

  const start = async (
    image: string,
    ports: readonly number[],
    options: { env?: Record<string, string>; command?: string[]; readyLine: RegExp },
  ): Promise<StartedTestContainer> => {
    const { GenericContainer, Wait } = await import('testcontainers')
    const container = new GenericContainer(image)
      .withExposedPorts(...ports)
      .withEnvironment(options.env ?? {})
      .withCommand(options.command ?? [])
      .withWaitStrategy(Wait.forAll([Wait.forListeningPorts(), Wait.forLogMessage(options.readyLine)]))
      .withStartupTimeout(120_000)
    try {
      const running = await withProgress(say, `container of ${image}`, container.start())
      started.push(running)
      return running
    } catch (error) {
      throw new RungUnavailable(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
    }
  }

  const rabbitmq = async (): Promise<RabbitmqAddress> => {
    const container = await start(pinnedImage('rabbitmq'), [5672, 15672], {
      env: { RABBITMQ_DEFAULT_USER: USER, RABBITMQ_DEFAULT_PASS: USER },
      readyLine: /Server startup complete/,
    })
    const at = (scheme: string, port: number): string =>
      `${scheme}://${USER}:${USER}@${container.getHost()}:${container.getMappedPort(port)}`
    return { amqpUrl: at('amqp', 5672), managementUrl: at('http', 15672) }
  }
  const redis = async (): Promise<RedisAddress> => {
    const container = await start(pinnedImage('redis'), [6379], {
      command: ['redis-server', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction', '--databases', '64'],
      readyLine: /Ready to accept connections/,
    })
    return { redisUrl: `redis://${container.getHost()}:${container.getMappedPort(6379)}` }
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
