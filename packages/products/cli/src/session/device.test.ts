import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withDevice } from './openid.ts'

let close: () => void
afterEach(() => close())

/** A provider whose device codes are valid for the time, and that answers the questions for the token in this order. */
async function aProvider(expiresIn: number, answers: readonly ('cut' | number)[]) {
  const left = [...answers]
  const server = createServer((request, response) => {
    const issuer = `http://${request.headers.host}`
    const json = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    switch (request.url) {
      case '/device': {
        const codes = { device_code: 'device', user_code: 'USER', verification_uri: `${issuer}/go` }
        return json(200, { ...codes, expires_in: expiresIn, interval: 0.01 })
      }
      case '/token': {
        const answer = left.shift()
        if (answer === 'cut') return void request.socket.destroy()
        if (answer === 200) return json(200, { access_token: 'token', token_type: 'Bearer' })
        return answer === undefined
          ? json(400, { error: 'authorization_pending' })
          : response.writeHead(answer).end('<')
      }
      default:
        return json(200, {
          issuer,
          token_endpoint: `${issuer}/token`,
          device_authorization_endpoint: `${issuer}/device`,
          authorization_endpoint: `${issuer}/go`,
        })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clientId: 'cli', scope: 'api' }
}

const nothing = () => undefined

test('a provider that is away for a moment does not end the sign-in', async () => {
  const provider = await aProvider(60, ['cut', 502, 200])
  expect(await withDevice(provider, nothing)).toMatchObject({ kind: 'person', accessToken: 'token' })
})

test('a refusal ends it', async () => {
  const provider = await aProvider(60, [403, 200])
  await expect(withDevice(provider, nothing)).rejects.toThrow('answered 403')
})

test('a code that is not entered in time has expired', async () => {
  const provider = await aProvider(0.3, [])
  await expect(withDevice(provider, nothing)).rejects.toThrow(
    'The code has expired: run "switchhook login --device" again.',
  )
})
