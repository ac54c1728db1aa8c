import { AppError, newSubscriptionId } from '@switchhook/contracts'
import { openVault, subscriptionHeader } from '@switchhook/signing'
import * as fc from 'fast-check'
import { type HeadersOwner, type HeadersRequest, headerFaults, mergedHeaders } from './own-headers.ts'

const vault = openVault({ SECRET_KEYS: undefined }, { warn: () => {} })
const owner = { tenant: 'acme', id: newSubscriptionId() }
const url = 'https://client.example/hooks'

const merge = (before: Partial<HeadersOwner> | undefined, request: HeadersRequest) =>
  mergedHeaders(vault, { ...owner, ...before }, request)

const opened = (headers: Readonly<Record<string, string>> | undefined) =>
  headers &&
  Object.fromEntries(
    Object.entries(headers).map(([name, sealed]) => [
      name,
      vault.open(sealed, subscriptionHeader(owner.tenant, owner.id, name)),
    ]),
  )

const stored = (values: Readonly<Record<string, string>>) => {
  const headers = merge(undefined, { headers: values })
  return { url, headers }
}

function pointersOf(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return (error.extra.errors ?? []).map(({ pointer }) => pointer)
    throw error
  }
  return []
}

describe('names and values', () => {
  test.each([
    'Host',
    'connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'TE',
    'Upgrade',
    'Proxy-Authorization',
    'Expect',
    'Content-Length',
    'content-type',
    'X-SVC-Event',
    'x-svc-anything',
    'webhook-signature',
    'Webhook-Other',
    // CGI and WSGI fold these into the names above.
    'webhook_signature',
    'X_SVC_Event',
    'webhook.signature',
    'x~svc+event',
    'content_type',
    'traceparent',
    'tracestate',
    'User-Agent',
    'Accept-Encoding',
    'two words',
    'colon:',
    'line\nbreak',
    '',
    'ü',
    'x'.repeat(65),
  ])('the name %j is refused', (name) => {
    expect(headerFaults({ [name]: 'value' })).toHaveLength(1)
  })

  test.each(['', ' a', 'a ', 'a\r\nX-Other: b', 'a\nb', 'a\0b', 'ü', '\u{1f4de}'])(
    'the value %j is refused, and not quoted',
    (value) => {
      const [fault, ...more] = headerFaults({ 'x-key': value })
      expect([fault?.pointer, more]).toEqual(['/headers/x-key', []])
      expect(fault?.detail).toMatch(/^must be /)
    },
  )

  test.each<[string, string | null]>([
    ['Authorization', 'Bearer 3fQ9'],
    ['X-API-Key', 'a'],
    ['cookie', 'a=b; c="d"\te'],
    ['x-kept', '***'],
    ['x-removed', null],
  ])('%s: %j is accepted', (name, value) => {
    expect(headerFaults({ [name]: value })).toEqual([])
  })

  test('a name that occurs twice in different case is refused', () => {
    expect(headerFaults({ 'X-Key': 'a', 'x-key': 'b' })).toEqual([
      { pointer: '/headers/x-key', detail: 'is named twice' },
    ])
  })

  test('whatever is accepted can be written into a request without another header', () => {
    // ASCII, Latin-1 and a little beyond: from all of Unicode nearly nothing is accepted.
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0x1_20 }).map((code) => String.fromCharCode(code)) })
    fc.assert(
      fc.property(text, text, (name, value) => {
        if (headerFaults({ [name]: value }).length > 0) return
        expect(new Headers([[name, value]]).get(name)).toBe(value)
      }),
    )
  })
})

describe('a change', () => {
  const before = stored({ Authorization: 'Bearer 1', 'X-Key': 'k' })

  test.each<[string, HeadersRequest, object | undefined]>([
    [
      'adds and replaces by name',
      { headers: { 'x-key': 'new', 'X-More': 'm' } },
      { authorization: 'Bearer 1', 'x-key': 'new', 'x-more': 'm' },
    ],
    ['removes one with null', { headers: { 'X-KEY': null } }, { authorization: 'Bearer 1' }],
    ['keeps one with ***', { headers: { 'x-key': '***' } }, { authorization: 'Bearer 1', 'x-key': 'k' }],
    ['removes all with null', { headers: null }, undefined],
    [
      'leaves them alone if it moves within the origin',
      { url: 'https://client.example/other' },
      { authorization: 'Bearer 1', 'x-key': 'k' },
    ],
    [
      'takes them to another origin if each is named',
      { url: 'https://other.example', headers: { authorization: '***', 'x-key': null } },
      { authorization: 'Bearer 1' },
    ],
    ['drops them on the way to another origin', { url: 'https://other.example', headers: null }, undefined],
  ])('%s', (_name, request, expected) => expect(opened(merge(before, request))).toEqual(expected))

  test.each<[string, HeadersRequest, string[]]>([
    ['without them', { url: 'https://other.example' }, ['/headers/authorization', '/headers/x-key']],
    ['with one of them', { url: 'http://client.example', headers: { 'x-key': 'k' } }, ['/headers/authorization']],
  ])('to another origin %s is refused', (_name, request, pointers) => {
    expect(pointersOf(() => merge(before, request))).toEqual(pointers)
  })

  test.each(['constructor', '__proto__'])('takes the name %s, which every object has', (name) => {
    const asking = (value: string) => JSON.parse(`{"headers": {"${name}": "${value}"}}`) as HeadersRequest
    expect(Object.entries(opened(merge(undefined, asking('v'))) ?? {})).toEqual([[name, 'v']])
    expect(pointersOf(() => merge(undefined, asking('***')))).toEqual([`/headers/${name}`])
  })

  test('keeps nothing where nothing is', () => {
    expect(pointersOf(() => merge(before, { headers: { 'x-other': '***' } }))).toEqual(['/headers/x-other'])
    expect(pointersOf(() => merge(undefined, { headers: { 'x-other': '***' } }))).toEqual(['/headers/x-other'])
  })

  test('is bounded over what is stored and what is new', () => {
    const nineteen = Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`x-${n}`, 'v']))
    expect(pointersOf(() => merge(stored(nineteen), { headers: { a: '1' } }))).toEqual([])
    expect(pointersOf(() => merge(stored(nineteen), { headers: { a: '1', b: '2' } }))).toEqual(['/headers'])
    const large = { a: 'v'.repeat(1_000), b: 'v'.repeat(1_000), c: 'v'.repeat(1_000) }
    expect(pointersOf(() => merge(stored(large), { headers: { d: 'v'.repeat(1_000) } }))).toEqual([])
    expect(pointersOf(() => merge(stored(large), { headers: { d: 'v'.repeat(1_000), e: 'v'.repeat(100) } }))).toEqual([
      '/headers',
    ])
  })

  test('that is repeated changes nothing', () => {
    const request = { headers: { authorization: 'Bearer 2', 'x-key': null } }
    const once = { url, headers: merge(before, request) }
    expect(merge(once, request)).toEqual(once.headers)
  })
})
