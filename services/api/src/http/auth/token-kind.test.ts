import { kindFault } from './token-kind.ts'

test.each<[object, object]>([
  [{}, {}],
  [{ typ: 'JWT' }, { azp: 'crm' }],
  [{ typ: 'at+jwt' }, { client_id: 'crm' }],
  [{ typ: 'application/AT+JWT' }, {}],
  [{}, { typ: 'Bearer', nonce: 'n', azp: 'crm' }],
  [{}, { token_use: 'access' }],
])('a token with the header %j and the claims %j is an access token', (header, claims) => {
  expect(kindFault({ ...header }, { ...claims })).toBeUndefined()
})

test.each<[object, object, string]>([
  [{}, { cnf: { jkt: 'x' } }, 'bound'],
  [{}, { cnf: { 'x5t#S256': 'x' } }, 'bound'],
  [{}, { cnf: null }, 'bound'],
  [{ typ: 'logout+jwt' }, {}, 'typ'],
  [{ typ: 'dpop+jwt' }, {}, 'typ'],
  [{ typ: 'secevent+jwt' }, {}, 'typ'],
  [{ typ: 7 }, {}, 'typ'],
  [{ typ: 'JWT' }, { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }, 'logout'],
  [{ typ: 'JWT' }, { typ: 'Logout' }, 'logout'],
  [{ typ: 'JWT' }, { typ: 'ID' }, 'identity'],
  [{ typ: 'JWT' }, { token_use: 'id' }, 'identity'],
  [{ typ: 'JWT' }, { at_hash: 'x', azp: 'crm' }, 'identity'],
  [{ typ: 'JWT' }, { nonce: 'n' }, 'identity'],
])('a token with the header %j and the claims %j is none', (header, claims, reason) => {
  expect(kindFault({ ...header }, { ...claims })).toContain(reason)
})
