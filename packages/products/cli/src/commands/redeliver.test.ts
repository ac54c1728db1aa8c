import { createClient } from '@switchhook/client'
import type { Context } from '../command.ts'
import { createOutput } from '../output/output.ts'
import { redeliver } from './deliveries.ts'

function problem(status: number): Response {
  const code = status === 503 ? 'service-unavailable' : 'x'
  return Response.json({ type: '', title: `Refused with ${status}`, status, code, requestId: 'r-1' }, { status })
}

/** Sends deliveries again; an id is the status of its answer. */
async function redelivered(...ids: readonly string[]) {
  const texts = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof texts) => ({ write: (text: string) => (texts[name] += text) })
  const client = createClient({
    baseUrl: 'http://127.0.0.1',
    maxRetries: 0,
    fetch: async (input) => {
      const deliveryId = /deliveries\/(\d+)/.exec(input instanceof Request ? input.url : String(input))?.[1] ?? ''
      return deliveryId === '202'
        ? Response.json({ deliveryId, state: 'pending', url: '' })
        : problem(Number(deliveryId))
    },
  })
  const out = createOutput({ stdout: sink('stdout'), stderr: sink('stderr') }, {}, false)
  const context = { client, out } as Partial<Context> as Context
  const failure = await redeliver.run(context, ids, {} as never).catch((error: Error) => error.message)
  return { ...texts, failure }
}

test('a delivery that cannot be sent does not keep the others back', async () => {
  expect(await redelivered('404', '202', '409')).toEqual({
    stdout: '202\tpending\t\n',
    stderr: '404: Refused with 404\n409: Refused with 409\n',
    failure: 'Refused with 404',
  })
})

test('a failure that ends the command is its failure, and the deliveries after it are named', async () => {
  expect(await redelivered('404', '403', '202')).toEqual({
    stdout: '',
    stderr: '404: Refused with 404\nNot sent: 403 202\n',
    failure: 'Refused with 403',
  })
})

test('a delivery whose answer was lost is not called unsent', async () => {
  expect(await redelivered('503', '202')).toMatchObject({ stderr: 'May have been sent: 503\nNot sent: 202\n' })
})
