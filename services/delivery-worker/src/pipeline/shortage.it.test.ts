import { parseDelivery } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { Queue } from '@switchhook/messaging'
import { startDeadline } from '@switchhook/runtime'
import { useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { aDelivery } from '@switchhook/testkit'
import { createPostClient } from '../http/post.ts'
import { createPostUnderLease } from '../http/post-under-lease.ts'
import { admitIn, pipelineDeps } from '../testing/delivering.ts'
import { createPipeline } from './pipeline.ts'

const TIMEOUT_MS = 5_000

let surroundings: WorkerSurroundings

useWorkerSurroundings((started) => (surroundings = started))

test('a worker that is out of sockets for a moment keeps its message, and neither attempt nor return is counted', async () => {
  let shortages = 1
  const lookup = async (): Promise<string[]> => {
    if (shortages-- > 0) throw Object.assign(new Error('no socket'), { code: 'EMFILE' })
    return ['127.0.0.1']
  }
  const guard = createAddressGuard(['127.0.0.0/8'])
  const client = createPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 1, guard, lookup })
  const deadlines = { startDeadline: () => startDeadline(TIMEOUT_MS), nowMs: () => performance.now() }
  const post = createPostUnderLease({ ...client, renew: admitIn('closed'), ...deadlines })
  const { deliver } = createPipeline(pipelineDeps({ post }))
  const broker = await surroundings.openBroker()
  const returned: boolean[] = []
  await broker.consume({
    queue: Queue.deliveryDue,
    concurrency: 10,
    parse: ({ content, headers, redelivered }) => {
      returned.push(redelivered)
      return parseDelivery(content, headers)
    },
    handle: (due) => deliver(due, 'due'),
    recovered: async () => {},
  })
  const url = surroundings.receiver.url('/hook').replace('127.0.0.1', 'client.example')
  await broker.publishDelivery(aDelivery({ url }))
  const [request] = await surroundings.receiver.waitFor(1, '/hook')
  expect(request?.headers).toMatchObject({ 'x-svc-attempt': '1' })
  expect(returned).toEqual([false, false])
  await client.close()
})
