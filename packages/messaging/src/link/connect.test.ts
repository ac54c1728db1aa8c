import { createBrokerNodes } from './connect.ts'

test('nodes are tried in order, starting at a random one', () => {
  const nodes = createBrokerNodes(['amqp://a', 'amqp://b', 'amqp://c'], () => 0.5)
  const tried = Array.from({ length: 5 }, () => {
    const { hostname } = nodes.target
    nodes.next()
    return hostname
  })
  expect(tried).toEqual(['b', 'c', 'a', 'b', 'c'])
})

test('the next node keeps no option of the previous one', () => {
  const nodes = createBrokerNodes(
    ['amqps://u%40:p%2Fw@a:1234/v%2Fh?heartbeat=3&frameMax=8192', 'amqp://[::1]'],
    () => 0,
  )
  expect(nodes.target).toEqual({
    protocol: 'amqps',
    hostname: 'a',
    port: 1234,
    username: 'u@',
    password: 'p/w',
    vhost: 'v%2Fh',
    heartbeat: 3,
    frameMax: 8192,
  })
  nodes.next()
  expect(nodes.target).toEqual({
    protocol: 'amqp',
    hostname: '::1',
    username: 'guest',
    password: 'guest',
    vhost: '',
    heartbeat: 10,
  })
})
