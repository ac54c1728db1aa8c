import { type Addresses, type BackingName, type BackingProvider, BackingUnavailable } from './provider.ts'
import { type BackingServices, startBackingServices } from './start-backing-services.ts'

interface FakeRung extends BackingProvider {
  readonly asked: BackingName[][]
  readonly stops: () => number
}

function fakeProvider(name: BackingProvider['name'], behaviour: { missing?: string; fails?: Error } = {}): FakeRung {
  const asked: BackingName[][] = []
  let stops = 0
  return {
    name,
    asked,
    stops: () => stops,
    missing: async () => behaviour.missing,
    start: async (wanted): Promise<Addresses> => {
      asked.push([...wanted])
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

test('Docker goes before what is installed', async () => {
  const local = fakeProvider('local')
  await expect(start(fakeProvider('docker'), local)).resolves.toMatchObject({
    amqpUrl: 'amqp://docker',
    redisUrl: 'redis://docker',
    providers: { rabbitmq: 'docker', redis: 'docker' },
  })
  expect(local.asked).toEqual([])
})

test('without an engine, Docker is passed over in silence', async () => {
  const said: string[] = []
  const docker = fakeProvider('docker', { missing: 'no Docker engine answers' })
  const services = await start(docker, fakeProvider('local'), {}, (line) => said.push(line))
  expect(services.providers).toEqual({ rabbitmq: 'local', redis: 'local' })
  expect([docker.asked, said]).toEqual([[], []])
})

test('an engine that cannot start them is reported in one line, and the next way is used', async () => {
  const said: string[] = []
  const docker = fakeProvider('docker', { fails: new BackingUnavailable('no such image') })
  const services = await start(docker, fakeProvider('local'), {}, (line) => said.push(line))
  expect(services.amqpUrl).toBe('amqp://local')
  expect(said).toEqual(['docker not used: no such image'])
})

test('given urls are used as they are, and nothing is started or stopped', async () => {
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
  expect([docker.asked, docker.stops()]).toEqual([[], 0])
})

test('only what is not given is started', async () => {
  const docker = fakeProvider('docker')
  const services = await start(docker, fakeProvider('local'), { REDIS_URL: 'redis://there' })
  expect(docker.asked).toEqual([['rabbitmq']])
  expect(services.providers).toEqual({ rabbitmq: 'docker', redis: 'given' })
  await services.stop()
  expect(docker.stops()).toBe(1)
})

test('a way that starts more than was wanted does not push aside what is given', async () => {
  const both = { rabbitmq: { amqpUrl: 'amqp://docker', managementUrl: null }, redis: { redisUrl: 'redis://docker' } }
  const docker: BackingProvider = { ...fakeProvider('docker'), start: async () => both }
  const services = await start(docker, fakeProvider('local'), { REDIS_URL: 'redis://there' })
  expect([services.amqpUrl, services.redisUrl]).toEqual(['amqp://docker', 'redis://there'])
})

test('where no way is open, the reasons and what a person can do are said', async () => {
  const failure = start(
    fakeProvider('docker', { missing: 'no Docker engine answers' }),
    fakeProvider('local', { fails: new BackingUnavailable('no apt-get here') }),
  )
  await expect(failure).rejects.toThrow(BackingUnavailable)
  await expect(failure).rejects.toThrow(
    /docker: no Docker engine answers\n +local: no apt-get here[^]*AMQP_URL=[^]*REDIS_URL=/,
  )
})

test('a server that does not come up is an error, not a reason to look elsewhere', async () => {
  const local = fakeProvider('local')
  await expect(start(fakeProvider('docker', { fails: new Error('crashed') }), local)).rejects.toThrow('crashed')
  expect(local.asked).toEqual([])
})

test('BACKING allows one way only', async () => {
  await expect(start(fakeProvider('docker'), fakeProvider('local'), { BACKING: 'local' })).resolves.toMatchObject({
    redisUrl: 'redis://local',
  })
  await expect(start(fakeProvider('docker'), fakeProvider('local'), { BACKING: 'cloud' })).rejects.toThrow(
    'BACKING must be',
  )
})
