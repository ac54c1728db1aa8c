import { connect } from 'node:net'
import { testBroker, testRedis } from './index.ts'

test('two test brokers are two virtual hosts of the same server', async () => {
  const [one, other] = await Promise.all([testBroker(), testBroker()])
  expect(one.amqpUrl).not.toBe(other.amqpUrl)
  await expect(one.management.queues()).resolves.toEqual([])
  await one.close()
  await other.close()
  await expect(one.management.queues()).rejects.toThrow('404')
})

test('a test Redis is the empty database with the number of the Jest worker', async () => {
  const redis = await testRedis()
  expect(new URL(redis.redisUrl).pathname).toBe(`/${process.env['JEST_WORKER_ID']}`)
  const reply = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(redis.redisUrl).port), new URL(redis.redisUrl).hostname)
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      resolve(chunk.toString())
      socket.destroy()
    })
    socket.write(`SELECT ${process.env['JEST_WORKER_ID']}\r\nDBSIZE\r\n`)
  })
  expect(reply).toContain('+OK')
  await redis.close()
})
