import { targetOf } from './listen.ts'

test.each([
  ['3000', 'http://localhost:3000/'],
  ['3000/hook', 'http://localhost:3000/hook'],
  ['3000?key=1', 'http://localhost:3000/?key=1'],
  ['localhost:3000/hook', 'http://localhost:3000/hook'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
  ['http://[::1]:3000/hook', 'http://[::1]:3000/hook'],
  ['https://app.localhost/hook?a=1', 'https://app.localhost/hook?a=1'],
  ['app.localhost.:3000', 'http://app.localhost.:3000/'],
])('%s is on this machine', (text, address) => expect(targetOf(text, false).href).toBe(address))

test.each(['http://192.168.1.5/hook', 'example.com', 'http://localhost.example.com/', 'http://127.0.0.1.example.com'])(
  '%s is another machine',
  (text) => {
    expect(() => targetOf(text, false)).toThrow('--allow-remote')
    expect(targetOf(text, true).protocol).toBe('http:')
  },
)

test.each(['', '/hook', 'http://', 'ftp://localhost/', 'http://local host/'])('"%s" is no address', (text) =>
  expect(() => targetOf(text, true)).toThrow(/is no address|must begin with/),
)

test('a password is refused, which fetch does not send', () =>
  expect(() => targetOf('http://me:secret@localhost:3000/', false)).toThrow(/^An address with a user or a password/))
