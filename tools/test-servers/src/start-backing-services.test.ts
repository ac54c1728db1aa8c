import { type Addresses, type BackingName, type BackingProvider, BackingUnavailable } from './provider.ts'
import { type BackingServices, startBackingServices } from './start-backing-services.ts'

interface FakeProvider extends BackingProvider {
  readonly startRequests: BackingName[][]
  readonly stops: () => number
}

function fakeProvider(
  name: BackingProvider['name'],
  behaviour: { missing?: string; fails?: Error } = {},
): FakeProvider {
  const startRequests: BackingName[][] = []
  let stops = 0
  return {
    name,
    startRequests,
    stops: () => stops,
    missing: async () => behaviour.missing,
    start: async (wanted): Promise<Addresses> => {
      startRequests.push([...wanted])
      if (behaviour.fails !== undefined) throw behaviour.fails
      return {
        ...(wanted.includes('rabbitmq') && { rabbitmq: { amqpUrl: `amqp://${name}`, managementUrl: null } }),
        ...(wanted.includes('redis') && { redis: { redisUrl: `redis://${name}` } }),
      }
    },
    stop: async () => {
      stops += 1
    },
  }
}

const silent = (): void => {}

function start(
  docker: BackingProvider,
  local: BackingProvider,
  env: NodeJS.ProcessEnv = {},
  say = silent as (line: string) => void,
): Promise<BackingServices> {
  return startBackingServices({ env, docker, local, say })
}

test('Docker is preferred to installed programs', async () => {
  const local = fakeProvider('local')
  await expect(start(fakeProvider('docker'), local)).resolves.toMatchObject({
    amqpUrl: 'amqp://docker',
    redisUrl: 'redis://docker',
    providers: { rabbitmq: 'docker', redis: 'docker' },
  })
  expect(local.startRequests).toEqual([])
})

test('without a Docker engine, installed programs are used without a message', async () => {
  const said: string[] = []
  const docker = fakeProvider('docker', { missing: 'no Docker engine answers' })
  const services = await start(docker, fakeProvider('local'), {}, (line) => said.push(line))
  expect(services.providers).toEqual({ rabbitmq: 'local', redis: 'local' })
  expect([docker.startRequests, said]).toEqual([[], []])
})

test('a Docker engine that cannot start the containers is reported in one line, and installed programs are used', async () => {
  const said: string[] = []
  const docker = fakeProvider('docker', { fails: new BackingUnavailable('no such image') })
  const services = await start(docker, fakeProvider('local'), {}, (line) => said.push(line))
  expect(services.amqpUrl).toBe('amqp://local')
  expect(said).toEqual(['docker not used: no such image'])
})

test('given URLs are used unchanged, and nothing is started or stopped', async () => {
  const docker = fakeProvider('docker')
  const services = await start(docker, fakeProvider('local'), {
    AMQP_URL: 'amqp://u:p@there:1',
    REDIS_URL: 'redis://there',
  })
  await services.stop()
  expect(services).toMatchObject({
    amqpUrl: 'amqp://u:p@there:1',
    managementUrl: 'http://u:p@there:15672',
    redisUrl: 'redis://there',
    providers: { rabbitmq: 'given', redis: 'given' },
  })
  expect([docker.startRequests, docker.stops()]).toEqual([[], 0])
})

test('only servers without a given URL are started', async () => {
  const docker = fakeProvider('docker')
  const services = await start(docker, fakeProvider('local'), { REDIS_URL: 'redis://there' })
  expect(docker.startRequests).toEqual([['rabbitmq']])
  expect(services.providers).toEqual({ rabbitmq: 'docker', redis: 'given' })
  await services.stop()
  expect(docker.stops()).toBe(1)
})

test('a given URL wins over a provider that starts more than was wanted', async () => {
  const both = { rabbitmq: { amqpUrl: 'amqp://docker', managementUrl: null }, redis: { redisUrl: 'redis://docker' } }
  const docker: BackingProvider = { ...fakeProvider('docker'), start: async () => both }
  const services = await start(docker, fakeProvider('local'), { REDIS_URL: 'redis://there' })
  expect([services.amqpUrl, services.redisUrl]).toEqual(['amqp://docker', 'redis://there'])
})

test('if no provider works, the error lists the reasons and the remedies', async () => {
  const failure = start(
    fakeProvider('docker', { missing: 'no Docker engine answers' }),
    fakeProvider('local', { fails: new BackingUnavailable('no apt-get here') }),
  )
  await expect(failure).rejects.toThrow(BackingUnavailable)
  await expect(failure).rejects.toThrow(
    /docker: no Docker engine answers\n +local: no apt-get here[^]*AMQP_URL=[^]*REDIS_URL=/,
  )
})

test('a server that fails to start is an error, and no other provider is tried', async () => {
  const local = fakeProvider('local')
  await expect(start(fakeProvider('docker', { fails: new Error('crashed') }), local)).rejects.toThrow('crashed')
  expect(local.startRequests).toEqual([])
})

test('BACKING allows one provider only', async () => {
  await expect(start(fakeProvider('docker'), fakeProvider('local'), { BACKING: 'local' })).resolves.toMatchObject({
    redisUrl: 'redis://local',
  })
  await expect(start(fakeProvider('docker'), fakeProvider('local'), { BACKING: 'cloud' })).rejects.toThrow(
    'BACKING must be',
  )
})
