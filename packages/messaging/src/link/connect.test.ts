import { toConnectOptions } from './connect.ts'

test.each([
  [
    'amqps://u%40:p%2Fw@a:1234/v%2Fh?heartbeat=3&frameMax=8192',
    {
      protocol: 'amqps',
      hostname: 'a',
      port: 1234,
      username: 'u@',
      password: 'p/w',
      vhost: 'v%2Fh',
      heartbeat: 3,
      frameMax: 8192,
    },
  ],
  [
    'amqp://[::1]',
    { protocol: 'amqp', hostname: '::1', username: 'guest', password: 'guest', vhost: '', heartbeat: 10 },
  ],
])('%s names these options', (url, options) => {
  expect(toConnectOptions(url)).toEqual(options)
})
