import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const CALL = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const JSON_TYPE = 'Content-Type: application/json\r\n'

let api: ApiUnderTest
let acme: { authorization: string }

useApi(
  ['acme'],
  (world) =>
    ({
      api,
      headers: { acme },
    } = world),
)

/** Sends raw bytes, because HTTP clients add their own headers. */
async function post(command: string, headersAndBody: string): Promise<{ status: number; code: string }> {
  const path = command === 'dial' ? 'dial' : `${CALL}/${command}`
  const socket = connect(api.port, '127.0.0.1')
  socket.write(
    `POST /api/v1/voice/calls/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${acme.authorization}\r\n${headersAndBody}`,
  )
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const { code } = JSON.parse(body) as { readonly code: string }
  return { status: Number(head.split(' ')[1]), code }
}

const withBody = (body: string): string => `${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`

const NO_BODY: [string, string][] = [
  ['no headers about a body', '\r\n'],
  ['Content-Length: 0', 'Content-Length: 0\r\n\r\n'],
  ['Content-Length: 0 and the type JSON', `${JSON_TYPE}Content-Length: 0\r\n\r\n`],
  ['Content-Length: 0 and another type', 'Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n'],
  ['the type JSON alone', `${JSON_TYPE}\r\n`],
  ['no chunk and the type JSON', `${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['no chunk and no type', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
]

const NO_AGENT: [string, string][] = [
  ...NO_BODY,
  ...['{}', 'null', '[]', '"x"', '7', '{"agentUri":null}', '{"agentUri":""}'].map((body): [string, string] => [
    `the body ${body}`,
    withBody(body),
  ]),
]

describe.each(['dial', 'transfer'])('%s', (command) => {
  test.each(NO_AGENT)('with %s has no agentUri: 401', async (_name, request) => {
    expect(await post(command, request)).toEqual({ status: 401, code: 'missing-agent-uri' })
  })
})

describe.each(['answer', 'hangup', 'hold', 'resume'])('%s', (command) => {
  test.each(NO_AGENT)('with %s has no agentUri: 400', async (_name, request) => {
    expect(await post(command, request)).toEqual({ status: 400, code: 'missing-agent-uri' })
  })
})

describe.each(['dial', 'transfer', 'hold'])('%s', (command) => {
  test.each<[string, string, number, string]>([
    ['broken JSON', withBody('{"agentUri":'), 400, 'malformed-json'],
    ['blanks', withBody('  '), 400, 'malformed-json'],
    ['an agentUri of a wrong type', withBody('{"agentUri":7}'), 400, 'invalid-request'],
    ['another type', 'Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}', 415, 'unsupported-media-type'],
    ['no type', 'Content-Length: 2\r\n\r\n{}', 415, 'unsupported-media-type'],
    ['a chunk and no type', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 415, 'unsupported-media-type'],
  ])('with %s is answered as on every route', async (_name, request, status, code) => {
    expect(await post(command, request)).toEqual({ status, code })
  })
})
