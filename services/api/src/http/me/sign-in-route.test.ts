import type { Issuer } from '../auth/issuer.ts'
import { bind } from '../route.ts'
import { readSignIn } from './me-route.ts'

const CLIENT = { clientId: 'cli-app', scope: 'openid api' }
const issuer = (name: string, more: Partial<Issuer> = {}): Issuer => ({
  issuer: `https://${name}.example/v2.0`,
  audience: 'switchhook',
  tenant: name,
  ...more,
})
const ACME = issuer('acme', { cli: CLIENT })
const GLOBEX = issuer('globex', { cli: CLIENT, console: { clientId: 'console-app', scope: 'openid' } })
const BROWSERS = issuer('browsers', { console: { clientId: 'console-app', scope: 'openid' } })

async function offer(issuers: readonly Issuer[], organization?: string, chooser: 'on' | 'off' = 'off') {
  const route = bind(readSignIn, { config: { AUTH_ISSUERS: issuers, CONSOLE_CHOOSER: chooser } })
  const query = organization === undefined ? {} : { organization }
  return (await route.handle({ query } as Parameters<typeof route.handle>[0])).body
}

const acme = { issuer: ACME.issuer, ...CLIENT }
const globex = { issuer: GLOBEX.issuer, ...CLIENT }

test('offers the only issuer with a client for the command line, without its tenant and its other settings', async () => {
  expect(await offer([ACME, BROWSERS])).toEqual({ issuers: [acme], asksOrganization: false })
})

test('without such an issuer, nobody can sign in', async () => {
  expect(await offer([BROWSERS])).toEqual({ issuers: [], asksOrganization: false })
})

test('names no tenant of several to a stranger', async () => {
  expect(await offer([ACME, GLOBEX])).toEqual({ issuers: [], asksOrganization: true })
})

test.each(['globex', ' GLOBEX '])('offers the issuer of the organization %j', async (name) => {
  expect(await offer([ACME, GLOBEX], name)).toEqual({
    issuers: [{ ...globex, name: 'globex' }],
    asksOrganization: true,
  })
})

test.each(['browsers', 'unknown', ''])('does not know the organization %j', async (name) => {
  await expect(offer([ACME, GLOBEX, BROWSERS], name)).rejects.toMatchObject({ code: 'not-found' })
})

test('lists all tenants if the operator wants a chooser', async () => {
  expect(await offer([ACME, GLOBEX], undefined, 'on')).toEqual({
    issuers: [
      { ...acme, name: 'acme' },
      { ...globex, name: 'globex' },
    ],
    asksOrganization: false,
  })
})
