import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { ConsoleFiles } from '@switchhook/console'
import { AppError } from '@switchhook/contracts'
import express, { type ErrorRequestHandler } from 'express'
import type { Issuer } from '../auth/issuer.ts'
import { baseOf, contentSecurityPolicy, mountConsole } from './mount-console.ts'

const folder = mkdtempSync(join(tmpdir(), 'console-'))
const script = 'let x = 1\n'.repeat(100)
const FILES: ConsoleFiles = {
  page: '<head><base href="./"></head>',
  assets: new Map(['index-a1b2.js', 'icon-c3d4.svg'].map((name) => [name, join(folder, name)])),
}

beforeAll(() => {
  writeFileSync(join(folder, 'index-a1b2.js'), script)
  writeFileSync(join(folder, 'icon-c3d4.svg'), '<svg/>')
})
afterAll(() => rmSync(folder, { recursive: true }))

const issuer = (name: string, more: Partial<Issuer> = {}): Issuer => ({
  issuer: `https://${name}.example/v2.0`,
  audience: 'switchhook',
  tenant: name,
  ...more,
})

const CLIENT = { clientId: 'console-app', scope: 'openid api' }

const MACHINES = issuer('machines')
const ACME = issuer('acme', { console: CLIENT })
const GLOBEX = issuer('globex', { console: CLIENT })

const answerMissing: ErrorRequestHandler = (error, _request, response, _next) => {
  response.sendStatus(error instanceof AppError && error.code === 'not-found' ? 404 : 500)
}

function serve(issuers: readonly Issuer[], hasChooser: boolean): Server {
  const app = express()
  app.enable('strict routing')
  mountConsole(app, { files: FILES, issuers, hasChooser })
  app.use(answerMissing)
  return app.listen(0)
}

const server = serve([ACME, MACHINES], false)
const ofSeveral = serve([ACME, GLOBEX, MACHINES], false)
const withChooser = serve([ACME, GLOBEX, MACHINES], true)

afterAll(() => Promise.all([server, ofSeveral, withChooser].map((one) => once(one.close(), 'close'))))

/** Bare requests, because fetch decompresses and follows redirects. */
async function get(path: string, headers: Record<string, string> = {}, from = server) {
  const { port } = from.address() as AddressInfo
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
  ['gzip, deflate, br', 'gzip', gzipSync(script)],
  ['identity', undefined, Buffer.from(script)],
])('a browser that accepts %s gets the file as %s', async (accepted, encoding, bytes) => {
  const answer = await get('/console/assets/index-a1b2.js', { 'accept-encoding': accepted })
  expect(answer).toMatchObject({ status: 200, body: bytes.toString() })
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-type': 'text/javascript; charset=utf-8' })
})

test('a file that is too small to compress is sent as it is', async () => {
  const answer = await get('/console/assets/icon-c3d4.svg', { 'accept-encoding': 'gzip' })
  expect(answer).toMatchObject({ status: 200, body: '<svg/>' })
})

test.each(['/console/assets/index-old.js', '/console/assets/..%2findex.html'])('%s is not found', async (path) => {
  expect((await get(path)).status).toBe(404)
})

const offer = async (from: Server, headers: Record<string, string> = {}, query = ''): Promise<unknown> =>
  JSON.parse((await get(`/console/config.json${query}`, headers, from)).body)

const acme = { issuer: 'https://acme.example/v2.0', ...CLIENT }
const globex = { issuer: 'https://globex.example/v2.0', ...CLIENT }

test('the icon of the console is found where browsers look for one', async () => {
  const { status, headers, body } = await get('/favicon.ico')
  expect([status, headers['content-type'], body]).toEqual([200, 'image/svg+xml', '<svg/>'])
})

describe('the sign-in page', () => {
  test('offers the only issuer with a client for the console, without its tenant and its other settings', async () => {
    expect((await get('/console/config.json')).headers['content-type']).toMatch(/^application\/json/)
    expect(await offer(server)).toEqual({ issuers: [acme], asksOrganization: false })
  })

  test('names no tenant of several to a stranger: not in config.json, not in the policy of the page', async () => {
    expect(await offer(ofSeveral)).toEqual({ issuers: [], asksOrganization: true })
    const { headers } = await get('/console/', {}, ofSeveral)
    expect(headers['content-security-policy']).toContain("connect-src 'self';")
  })

  test.each(['acme', ' ACME '])('offers the issuer of the organization that a person names: %j', async (name) => {
    const query = `?organization=${encodeURIComponent(name)}`
    const answer = await get(`/console/config.json${query}`, {}, ofSeveral)
    expect(JSON.parse(answer.body)).toEqual({ issuers: [{ ...acme, name: 'acme' }], asksOrganization: true })
    const [set = ''] = answer.headers['set-cookie'] ?? []
    expect(set).toMatch(/^switchhook-organizations=[^;]+; HttpOnly; SameSite=Lax$/)

    const cookie = `other=1; ${set.split(';')[0]}`
    expect(await offer(ofSeveral, { cookie })).toEqual(JSON.parse(answer.body))
    const { headers } = await get('/console/', { cookie }, ofSeveral)
    expect(headers['content-security-policy']).toContain("connect-src 'self' https://acme.example;")
    expect(headers['vary']).toBe('Cookie')

    const second = await offer(ofSeveral, { cookie }, '?organization=globex')
    expect(second).toMatchObject({ issuers: [{ name: 'acme' }, { name: 'globex' }] })
  })

  test.each(['machines', 'unknown', '', 'Installation'])('does not know the organization %j', async (name) => {
    const answer = await get(`/console/config.json?organization=${name}`, {}, ofSeveral)
    expect(answer.status).toBe(404)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test.each(['%', '%22acme%22', '%5B1%5D', '%5B%22nobody%22%5D'])('ignores the cookie %s', async (value) => {
    const cookie = `switchhook-organizations=${value}`
    expect(await offer(ofSeveral, { cookie })).toEqual({ issuers: [], asksOrganization: true })
  })

  test('lists all tenants if the operator wants a chooser', async () => {
    expect(await offer(withChooser)).toEqual({
      issuers: [
        { ...acme, name: 'acme' },
        { ...globex, name: 'globex' },
      ],
      asksOrganization: false,
    })
  })
})

test('the policy allows the offered issuers, and nothing unsafe', async () => {
  const policy = (await get('/console/')).headers['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("connect-src 'self' https://acme.example;")
  expect(policy).not.toMatch(/unsafe|\*/)
})

test('the policy allows the further origins of an issuer once', () => {
  const origins = ['https://tokens.example/x', 'https://acme.example']
  const issuers = [issuer('acme', { console: { ...CLIENT, origins } })]
  const policy = contentSecurityPolicy(issuers, { issuers: [acme], asksOrganization: false })
  expect(policy).toContain("connect-src 'self' https://acme.example https://tokens.example;")
})
