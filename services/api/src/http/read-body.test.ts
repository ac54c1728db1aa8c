import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { AppError } from '@switchhook/contracts'
import { createReadBody } from './read-body.ts'
import type { Route } from './route.ts'

const spec = {
  method: 'post',
  path: '/api/v1/things',
  operationId: 'createThing',
  tag: 'me',
  summary: 'Creates a thing',
  responses: {},
  handle: () => Promise.reject(new Error('must not be called')),
  body: {
    type: 'object',
    properties: { n: { type: 'number' }, name: { type: 'string' }, of: { type: 'object' } },
    additionalProperties: true,
  },
} satisfies Route

function bodyOf(text: string, route: Route = spec): Promise<unknown> {
  const request = Object.assign(Readable.from([Buffer.from(text)]), {
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  })
  return createReadBody(route)(request as unknown as IncomingMessage)
}

const CHANGED = [
  '{"n":1e400}',
  '{"n":-1e400}',
  '{"n":1e308}',
  '{"n":9007199254740992}',
  '{"n":-9007199254740993}',
  '{"n":900719925474099.3e1}',
  '{"n":1E+16}',
  '{"n":1e-400}',
  String.raw`{"name":"a\ud83d"}`,
  String.raw`{"name":"\ude00\ud83d"}`,
  String.raw`{"name":"\uD83Dx\uDE00"}`,
  String.raw`{"of":{"\udc00":1}}`,
  String.raw`{"of":{"deep":[{"er":"\ud800"}]}}`,
]

test.each(CHANGED)(
  '%s is rejected, also by a route that decides itself about the faults of its schema',
  async (text) => {
    for (const route of [spec, { ...spec, validate: () => undefined }]) {
      const refused = await bodyOf(text, route).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(AppError)
      expect(refused).toMatchObject({ code: 'invalid-request' })
      expect((refused as AppError).extra.errors).toContainEqual({
        pointer: expect.stringMatching(/^\/(n|of|name)/) as string,
        detail: expect.stringMatching(/changed|rounded|surrogate/) as string,
      })
    }
  },
)

test.each([
  '{"n":9007199254740991}',
  '{"n":1e3}',
  '{"n":1.5e-300}',
  String.raw`{"name":"\ud83d\ude00 \\ud83d","of":{"😀":-0.5}}`,
  String.raw`{"unknown":["\ud83d",1e400]}`,
])('%s is read', async (text) => {
  await expect(bodyOf(text)).resolves.toEqual(JSON.parse(text))
})
