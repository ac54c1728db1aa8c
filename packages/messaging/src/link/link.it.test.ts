import { eventually, startTcpProxy, type TcpProxy, type TestBroker, testBroker } from '@switchhook/testkit'
import { recordingLog } from '../testing/recording-log.ts'
import { type Link, openLink, type Session } from './link.ts'

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

function open(setUp: (session: Session, life: number) => Promise<void>): Promise<Link> {
  let life = 0
  return openLink({
    url: proxy.url,
    name: 'test',
    log: recordingLog(),
    changed: () => {},
    setUp: (session) => setUp(session, ++life),
  })
}

const sessionOf = (opened: Link): Promise<Session> =>
  eventually(() => {
    const session = opened.session()
    if (session === undefined) throw new Error('not connected')
    return session
  })

test('a connection that is lost during a set-up that does not notice is not taken for alive', async () => {
  const lives: number[] = []
  link = await open(async ({ model }, life) => {
    lives.push(life)
    if (life > 1) return
    const closed = new Promise<void>((resolve) => {
      model.on('close', () => resolve())
    })
    proxy.cut()
    await closed
  })
  const session = await sessionOf(link)
  await session.model.createChannel()
  expect(lives).toEqual([1, 2])
})

test('a channel that dies unnoticed during the set-up costs the connection', async () => {
  link = await open(async ({ model, fail }, life) => {
    const [doomed, other] = [await model.createChannel(), await model.createChannel()]
    doomed.on('error', fail)
    if (life === 1) await doomed.checkQueue('no such queue').catch(() => {})
    await other.prefetch(life)
    if (life === 2) await other.close()
  })
  const { model } = await sessionOf(link)
  expect(proxy.accepted()).toBe(2)
  await model.createChannel()
})

test('a set-up that fails is repeated', async () => {
  const lives: number[] = []
  link = await open(async (_session, life) => {
    lives.push(life)
    if (life < 3) throw new Error('not yet')
  })
  await sessionOf(link)
  expect(lives).toEqual([1, 2, 3])
  await eventually(() => expect(proxy.connections()).toBe(1))
})

test('giving a connection up makes a new one, once, however many complain', async () => {
  link = await open(() => Promise.resolve())
  const session = await sessionOf(link)
  for (let n = 0; n < 5; n++) session.fail(new Error('of no use'))
  await eventually(() => expect(link?.session()).toBeUndefined())
  expect(await sessionOf(link)).not.toBe(session)
  expect(proxy.accepted()).toBe(2)
})

test('closing a link whose server does not answer ends all the same', async () => {
  link = await open(() => Promise.resolve())
  await sessionOf(link)
  proxy.freeze()
  await link.close()
  expect(link.session()).toBeUndefined()
}, 10_000)

test('giving up a connection that is lost at that moment leads to a new one', async () => {
  link = await open(() => Promise.resolve())
  const session = await sessionOf(link)
  proxy.freeze()
  session.fail(new Error('of no use'))
  await eventually(() => expect(link?.session()).toBeUndefined())
  proxy.thaw()
  expect(await sessionOf(link)).not.toBe(session)
})
