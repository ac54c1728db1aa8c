import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ConsoleFiles } from '@switchhook/console'
import { AppError } from '@switchhook/contracts'
import express, { type ErrorRequestHandler } from 'express'
import type { Issuer } from '../auth/issuer.ts'
import { baseOf, contentSecurityPolicy, mountConsole } from './mount-console.ts'

const FILES: ConsoleFiles = {
  page: '<head><base href="./"></head>',
  assets: new Map([
    [
      'index-a1b2.js',
      {
        contentType: 'text/javascript; charset=utf-8',
        bytes: Buffer.from('plain'),
        brotli: Buffer.from('as brotli'),
        gzip: Buffer.from('as gzip'),
      },
    ],
    ['icon-c3d4.svg', { contentType: 'image/svg+xml', bytes: Buffer.from('<svg/>') }],
  ]),
}

const issuer = (name: string, more: Partial<Issuer> = {}): Issuer => ({
  issuer: `https://${name}.example/v2.0`,
  audience: 'switchhook',
  tenant: name,
  ...more,
})

const CLIENT = { clientId: 'console-app', scope: 'openid api' }

const app = express()
app.enable('strict routing')
mountConsole(app, { files: FILES, issuers: [issuer('acme', { console: CLIENT }), issuer('machines')] })
const answerMissing: ErrorRequestHandler = (error, _request, response, _next) => {
  response.sendStatus(error instanceof AppError && error.code === 'not-found' ? 404 : 500)
}
app.use(answerMissing)
const server = app.listen(0)

afterAll(() => once(server.close(), 'close'))

/** Bare requests, because fetch decompresses and follows redirects. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo
  const sent = request({ port, path, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

test.each([
  ['/console/', './'],
  ['/console/events', './'],
  ['/console/events?q=a/b', './'],
  ['/console/events/0b7e3f0c', '../'],
  ['/console/agents/sip%3Aa%2Fb/calls', '../../'],
])('the page at %s refers to the root as %s', async (path, base) => {
  expect(baseOf(path)).toBe(base)
  expect((await get(path)).body).toBe(`<head><base href="${base}"></head>`)
})

test('the address without a slash leads to the page, below any prefix', async () => {
  expect(await get('/console')).toMatchObject({ status: 302, headers: { location: 'console/' } })
})

test('the page is checked for updates, and its files are kept for ever', async () => {
  expect((await get('/console/')).headers['cache-control']).toBe('no-cache')
  expect((await get('/console/assets/index-a1b2.js')).headers['cache-control']).toBe(
    'public, max-age=31536000, immutable',
  )
})

test.each([
  ['gzip, deflate, br', 'br', 'as brotli'],
  ['gzip', 'gzip', 'as gzip'],
  ['identity', undefined, 'plain'],
])('a browser that accepts %s gets the file as %s', async (accepted, encoding, body) => {
  const answer = await get('/console/assets/index-a1b2.js', { 'accept-encoding': accepted })
  expect(answer).toMatchObject({ status: 200, body })
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-type': 'text/javascript; charset=utf-8' })
})

test('a file that is too small to compress is sent as it is', async () => {
  const answer = await get('/console/assets/icon-c3d4.svg', { 'accept-encoding': 'br' })
  expect(answer).toMatchObject({ status: 200, body: '<svg/>' })
})

test.each(['/console/assets/index-old.js', '/console/assets/..%2findex.html'])('%s is not found', async (path) => {
  expect((await get(path)).status).toBe(404)
})

test('only issuers with a client for the console are offered, without their other settings', async () => {
  const { headers, body } = await get('/console/config.json')
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(JSON.parse(body)).toEqual({
    issuers: [{ issuer: 'https://acme.example/v2.0', name: 'acme', ...CLIENT }],
  })
})

test('the policy allows the issuers of the console, and nothing unsafe', async () => {
  const policy = (await get('/console/')).headers['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("connect-src 'self' https://acme.example;")
  expect(policy).not.toMatch(/unsafe|\*/)
})

test('the policy allows the further origins of an issuer once', () => {
  const origins = ['https://tokens.example/x', 'https://acme.example']
  const policy = contentSecurityPolicy([issuer('acme', { console: { ...CLIENT, origins } })])
  expect(policy).toContain("connect-src 'self' https://acme.example https://tokens.example;")
})
