import type { Socket } from 'node:net'
import {
  eventually,
  recordingLog,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Link, openLink } from './link.ts'
import { connectToAny, type Session } from './session.ts'

let server: TestBroker
let proxy: TcpProxy
let link: Link | undefined

beforeEach(async () => {
  server = await testBroker()
  proxy = await startTcpProxy(server.amqpUrl)
})

afterEach(async () => {
  await link?.close()
  await proxy.close()
  await server.close()
})

function open(setUp: (session: Session, generation: number) => Promise<void>): Link {
  let generation = 0
  return openLink({
    url: proxy.url,
    name: 'test',
    log: recordingLog(),
    changed: () => {},
    setUp: (session) => setUp(session, ++generation),
  })
}

const sessionOf = (opened: Link): Promise<Session> =>
  eventually(() => {
    const session = opened.session()
    if (session === undefined) throw new Error('not connected')
    return session
  })

test('a connection that is lost unnoticed during its set-up is replaced', async () => {
  const generations: number[] = []
  link = open(async ({ model }, generation) => {
    generations.push(generation)
    if (generation > 1) return
    const closed = new Promise<void>((resolve) => {
      model.on('close', () => resolve())
    })
    proxy.cut()
    await closed
  })
  const session = await sessionOf(link)
  await session.model.createChannel()
  expect(generations).toEqual([1, 2])
})

test('a channel that fails unnoticed during the set-up costs the connection', async () => {
  link = open(async ({ model, fail }, generation) => {
    const [doomed, other] = [await model.createChannel(), await model.createChannel()]
    doomed.on('error', fail)
    if (generation === 1) await doomed.checkQueue('no such queue').catch(() => {})
    await other.prefetch(generation)
    if (generation === 2) await other.close()
  })
  const { model } = await sessionOf(link)
  expect(proxy.accepted()).toBe(2)
  await model.createChannel()
})

test('a failed set-up is repeated', async () => {
  const generations: number[] = []
  link = open(async (_session, generation) => {
    generations.push(generation)
    if (generation < 3) throw new Error('not yet')
  })
  await sessionOf(link)
  expect(generations).toEqual([1, 2, 3])
  await eventually(() => expect(proxy.connections()).toBe(1))
})

test('failing a connection several times opens one new connection', async () => {
  link = open(() => Promise.resolve())
  const session = await sessionOf(link)
  for (let n = 0; n < 5; n++) session.fail(new Error('unusable'))
  await eventually(() => expect(link?.session()).toBeUndefined())
  expect(await sessionOf(link)).not.toBe(session)
  expect(proxy.accepted()).toBe(2)
})

test('closing a link ends although the server does not answer', async () => {
  link = open(() => Promise.resolve())
  await sessionOf(link)
  proxy.freeze()
  await link.close()
  expect(link.session()).toBeUndefined()
})

test('a link that is closed while it connects sets nothing up', async () => {
  proxy.freeze()
  let setUps = 0
  link = open(async () => void (setUps += 1))
  await eventually(() => expect(proxy.accepted()).toBe(1))
  await link.close()
  proxy.thaw()
  await eventually(() => expect(proxy.connections()).toBe(0))
  expect(setUps).toBe(0)
})

test('a connection that is lost while it is given up is replaced', async () => {
  link = open(() => Promise.resolve())
  const session = await sessionOf(link)
  proxy.freeze()
  session.fail(new Error('unusable'))
  await eventually(() => expect(link?.session()).toBeUndefined())
  proxy.thaw()
  expect(await sessionOf(link)).not.toBe(session)
})

describe('RabbitMQ that refuses a connection', () => {
  const user = `limited-${process.pid}`

  /** What is logged about the first connection that is refused. */
  async function refusalOf(url: string, setUp: (session: Session) => Promise<void> = async () => {}) {
    const log = recordingLog()
    link = openLink({ url, name: 'test', log, changed: () => {}, setUp })
    const line = await eventually(() => {
      const found = log.lines.find(({ level }) => level === 'error')
      if (found === undefined) throw new Error('nothing is refused yet')
      return found
    })
    return { message: line.message, error: (line.fields['error'] as Error).message }
  }

  function asUser(name: string, password: string): string {
    return Object.assign(new URL(server.amqpUrl), { username: name, password }).href
  }

  beforeEach(async () => {
    const { call } = server.management
    const vhost = new URL(server.amqpUrl).pathname.slice(1)
    await call('PUT', `users/${user}`, { password: 'secret', tags: '' })
    await call('PUT', `permissions/${vhost}/${user}`, { configure: '.*', write: '.*', read: '.*' })
  })
  afterEach(() => server.management.call('DELETE', `users/${user}`))

  const accepted = 'RabbitMQ accepts the login and refuses the connection, for the reason in `error`; retrying'

  test("the limit of the user's connections is named in RabbitMQ's words", async () => {
    await server.management.call('PUT', `user-limits/${user}/max-connections`, { value: 0 })
    expect(await refusalOf(asUser(user, 'secret'))).toEqual({
      message: accepted,
      error: expect.stringMatching(/^NOT_ALLOWED - .*user connection limit \(0\) is reached/),
    })
  })

  test("the limit of the user's channels is named in RabbitMQ's words", async () => {
    await server.management.call('PUT', `user-limits/${user}/max-channels`, { value: 1 })
    const setUp = async ({ model }: Session) => {
      await model.createChannel()
      await model.createChannel()
    }
    expect(await refusalOf(asUser(user, 'secret'), setUp)).toEqual({
      message: 'RabbitMQ refuses the set-up; retrying',
      error: expect.stringMatching(/channels.*limit|limit.*channels|channel limit/),
    })
  })

  test("the limit of the virtual host's connections is named in RabbitMQ's words", async () => {
    const vhost = new URL(server.amqpUrl).pathname.slice(1)
    await server.management.call('PUT', `vhost-limits/${vhost}/max-connections`, { value: 0 })
    expect(await refusalOf(asUser(user, 'secret'))).toEqual({
      message: accepted,
      error: expect.stringMatching(/^NOT_ALLOWED - .*connection limit \(0\) is reached/),
    })
  })

  test('a virtual host that does not exist is named', async () => {
    const url = Object.assign(new URL(server.amqpUrl), { pathname: '/missing' })
    expect(await refusalOf(url.href)).toEqual({
      message: accepted,
      error: expect.stringMatching(/vhost \S*missing\S* not found/),
    })
  })

  test('a password outside of ASCII is the same one for every connection', async () => {
    await server.management.call('PUT', `users/${user}`, { password: 'sécret/日本', tags: '' })
    const model = await connectToAny({ url: asUser(user, encodeURIComponent('sécret/日本')) }, 'test')
    await model.close()
  })

  test('frames that are too small for the headers of some messages are named', async () => {
    const url = `${server.amqpUrl}?frameMax=65535`
    expect(await refusalOf(url)).toEqual({
      message:
        'the frames of RabbitMQ are too small for the headers of large messages; raise frame_max in its configuration; retrying',
      error: 'frame_max is 65535; at least 65536 bytes are needed',
    })
    await expect(connectToAny({ url }, 'test')).rejects.toMatchObject({
      cause: expect.objectContaining({ name: 'FramesTooSmall' }),
    })
    await (await connectToAny({ url: `${server.amqpUrl}?frameMax=65536` }, 'test')).close()
  })

  test('a wrong password is a refused login', async () => {
    expect(await refusalOf(asUser(user, 'wrong'))).toEqual({
      message: 'RabbitMQ refuses the login; check user and password in AMQP_URL; retrying',
      error: expect.stringMatching(/^ACCESS_REFUSED - Login was refused/),
    })
  })
})

test('what a channel publishes is written in the same tick, and the frames of a closed channel cost no other its own', async () => {
  link = open(() => Promise.resolve())
  const { model } = await sessionOf(link)
  const { stream } = model.connection as unknown as { readonly stream: Socket }
  const [channel, other] = [await model.createConfirmChannel(), await model.createChannel()]
  const { queue } = await other.assertQueue('', { exclusive: true })
  const written = stream.bytesWritten
  channel.sendToQueue(queue, Buffer.from('x'.repeat(5_000)))
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(stream.writableCorked).toBe(0)
  expect(stream.bytesWritten - written).toBeGreaterThan(5_000)
  await channel.waitForConfirms()
  await channel.close()
  expect(await other.get(queue)).toMatchObject({ content: Buffer.from('x'.repeat(5_000)) })
})
