import { AppError, type FailureCode } from '@switchhook/contracts'
import { createOwnSiteCheck, type SiteRequest } from './own-site.ts'

const check = createOwnSiteCheck(['switchhook.example', 'API.Example.'])

/** The code of the refusal; undefined: the request is accepted. */
function refusal(method: string, headers: SiteRequest['headers']): FailureCode | undefined {
  try {
    check({ method, headers })
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

describe('the host of a request without a token', () => {
  test.each([
    'switchhook.example',
    'switchhook.example:8080',
    'SWITCHHOOK.example.:8080',
    'api.example',
    'localhost',
    'localhost:8080',
    '127.0.0.1:8080',
    '10.1.2.3',
    '[::1]:8080',
    '[fd00::7]',
  ])('%s is accepted', (host) => {
    expect(refusal('POST', { host })).toBeUndefined()
  })

  test.each([
    'evil.example',
    'evil.example:8080',
    'switchhook.example.evil.example',
    'evil.switchhook.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.1.2.3.nip.io',
    'user@localhost',
    'localhost:8080:80',
    '[::1].evil.example',
    '::1',
    '',
  ])('%s is refused', (host) => {
    expect(refusal('GET', { host })).toBe('host-not-allowed')
  })

  test('is required', () => {
    expect(refusal('GET', {})).toBe('host-not-allowed')
  })

  test('must be allowed before and behind a proxy', () => {
    const behind = { host: 'api.example:8080' }
    expect(refusal('GET', { ...behind, 'x-forwarded-host': 'switchhook.example' })).toBeUndefined()
    expect(refusal('GET', { ...behind, 'x-forwarded-host': 'evil.example' })).toBe('host-not-allowed')
    expect(refusal('GET', { ...behind, 'x-forwarded-host': 'switchhook.example, evil.example' })).toBe(
      'host-not-allowed',
    )
    expect(refusal('GET', { host: 'evil.example', 'x-forwarded-host': 'switchhook.example' })).toBe('host-not-allowed')
  })
})

const host = 'switchhook.example:8080'
const OWN = `http://${host}`
const SIBLING = 'http://switchhook.example:3000'
const FOREIGN = 'https://evil.example'

describe('a request without a token', () => {
  test.each<[string, string, string | undefined, string | undefined, boolean]>([
    ['of a program', 'POST', undefined, undefined, true],
    ['of the own page', 'POST', OWN, 'same-origin', true],
    ['of the own page, without Sec-Fetch-Site', 'POST', OWN, undefined, true],
    ['of the own page behind a proxy with TLS', 'POST', `https://${host}`, undefined, true],
    ['typed into the address bar', 'GET', undefined, 'none', true],
    ['of a foreign page', 'POST', FOREIGN, 'cross-site', false],
    ['of a foreign page, without Sec-Fetch-Site', 'POST', FOREIGN, undefined, false],
    ['of a foreign page, without Origin', 'POST', undefined, 'cross-site', false],
    ['that a foreign page reads', 'GET', undefined, 'cross-site', false],
    ['that a foreign page reads with CORS', 'GET', FOREIGN, undefined, false],
    ['of a page without an origin', 'POST', 'null', undefined, false],
    ['of another port of the host', 'POST', SIBLING, 'same-site', false],
    ['of another port of the host, without Sec-Fetch-Site', 'POST', SIBLING, undefined, false],
    ['of the same site, without Origin', 'POST', undefined, 'same-site', false],
    ['that deletes, of the same site', 'DELETE', undefined, 'same-site', false],
    ['for an image in a page of the same site', 'GET', undefined, 'same-site', true],
    ['of a page whose host begins like this one', 'POST', `${OWN}0`, undefined, false],
    ['with a senseless origin', 'POST', '', undefined, false],
  ])('%s (%s, Origin %s, Sec-Fetch-Site %s) is accepted: %s', (_name, method, origin, site, isAccepted) => {
    const headers = {
      host,
      ...(origin !== undefined && { origin }),
      ...(site !== undefined && { 'sec-fetch-site': site }),
    }
    expect(refusal(method, headers)).toBe(isAccepted ? undefined : 'cross-site-request')
  })

  test('of a page at the address that the proxy reports is accepted', () => {
    const headers = { host: '10.1.2.3:8080', 'x-forwarded-host': 'switchhook.example' }
    expect(refusal('POST', { ...headers, origin: 'https://switchhook.example' })).toBeUndefined()
    expect(refusal('POST', { ...headers, origin: 'https://api.example' })).toBe('cross-site-request')
  })
})
