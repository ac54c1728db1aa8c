import fc from 'fast-check'
import { createAddressGuard } from './address-guard.ts'

const guard = createAddressGuard([])

describe('addresses that are refused', () => {
  test.each([
    ['this network', '0.0.0.0'],
    ['this network, another', '0.1.2.3'],
    ['private, class A', '10.0.0.1'],
    ['shared (carrier-grade NAT)', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['loopback, another', '127.255.255.254'],
    ['link-local', '169.254.0.1'],
    ['cloud metadata', '169.254.169.254'],
    ['cloud metadata of Azure (WireServer)', '168.63.129.16'],
    ['cloud metadata of Azure, mapped', '::ffff:168.63.129.16'],
    ['cloud metadata of Oracle', '192.0.0.192'],
    ['cloud metadata of Alibaba', '100.100.100.200'],
    ['private, class B', '172.16.0.1'],
    ['private, class B, the last', '172.31.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation 1', '192.0.2.1'],
    ['6to4 relay', '192.88.99.1'],
    ['private, class C', '192.168.1.1'],
    ['benchmarks', '198.18.0.1'],
    ['documentation 2', '198.51.100.1'],
    ['documentation 3', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified, v6', '::'],
    ['loopback, v6', '::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback, in hex', '::ffff:7f00:1'],
    ['mapped private', '::ffff:10.0.0.1'],
    ['v4-compatible loopback', '::127.0.0.1'],
    ['v4-compatible loopback, in hex', '::7f00:1'],
    ['translated (NAT64)', '64:ff9b::7f00:1'],
    ['translated (NAT64), metadata', '64:ff9b::a9fe:a9fe'],
    ['translated (NAT64), private', '64:ff9b::10.0.0.1'],
    ['translated (NAT64), metadata of Azure', '64:ff9b::168.63.129.16'],
    ['translated (NAT64), nothing', '64:ff9b::'],
    ['translated (NAT64), local use', '64:ff9b:1::7f00:1'],
    ['translated (NAT64), local use, metadata', '64:ff9b:1::a9fe:a9fe'],
    ['translated (NAT64), local use with 48 bits', '64:ff9b:1:a00:0:100::'],
    ['translated (NAT64), local use with 48 bits, and a public address at the end', '64:ff9b:1:a00:0:100:808:808'],
    ['translated (NAT64), local use with 56 bits', '64:ff9b:1:a:0:1::'],
    ['translated (NAT64), local use with 64 bits', '64:ff9b:1:0:a:0:100:0'],
    ['translated (NAT64), local use, nothing', '64:ff9b:1::'],
    ['discard-only', '100::1'],
    ['dummy prefix', '100:0:0:1::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['benchmarks, v6', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['documentation, v6', '2001:db8::1'],
    ['6to4', '2002:7f00:1::'],
    ['6to4 with a public address', '2002:808:808::1'],
    ['Teredo with a public server and client', '2001:0:808:808:0:0:f7f7:f7f7'],
    ['IPv4-translated (RFC 2765)', '::ffff:0:8.8.8.8'],
    ['ISATAP, private', '2a00:1450::5efe:10.0.0.1'],
    ['ISATAP, metadata', '2a00:1450:1:2:200:5efe:a9fe:a9fe'],
    ['mapped, in upper case and with all digits', '0:0:0:0:0:FFFF:0A00:0001'],
    ['translated (NAT64), in upper case', '64:FF9B::A00:1'],
    ['with a scope', 'fe80::1%eth0'],
    ['documentation, new', '3fff::1'],
    ['segment routing', '5f00::1'],
    ['unique local', 'fc00::1'],
    ['unique local, cloud metadata', 'fd00:ec2::254'],
    ['link-local, v6', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast, v6', 'ff02::1'],
    ['not an address', 'client.example'],
    ['empty text', ''],
  ])('%s: %s', (_name, address) => {
    expect(guard.allows(address)).toBe(false)
  })
})

test.each([
  '8.8.8.8',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '168.63.129.15',
  '168.63.129.17',
  '100.128.0.1',
  '2606:2800:21f:cb07::1',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b::93.184.215.14',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:808:8:800::',
  '2a00:1450::200:5efe:8.8.8.8',
  '2a00:1450::5eff:10.0.0.1',
  '2a00:1450::1:5efe:10.0.0.1',
])('%s is an ordinary public address', (address) => {
  expect(guard.allows(address)).toBe(true)
})

describe('the host of a URL, in every spelling that URLs allow', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0x7f.1/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://app.localhost/',
    'http://①②⑦.⓪.⓪.①/',
    'http://169.254.169.254/latest/meta-data',
    'http://0/',
  ])('%s is refused', (url) => {
    expect(guard.allowsHost(new URL(url).hostname)).toBe(false)
  })

  test.each([
    'https://client.example/',
    'https://8.8.8.8/',
    'https://[2606:2800:21f:cb07::1]/',
    'https://localhost.example/',
  ])('%s is allowed', (url) => {
    expect(guard.allowsHost(new URL(url).hostname)).toBe(true)
  })
})

describe('an allowed NAT64 prefix', () => {
  const translating = createAddressGuard(['64:ff9b::/96', '64:ff9b:1::/48', '10.1.0.0/16', '::/0'])

  test.each([
    ['64:ff9b::8.8.8.8', true],
    ['64:ff9b::169.254.169.254', false],
    ['64:ff9b::10.0.0.1', false],
    ['64:ff9b::127.0.0.1', false],
    ['64:ff9b::10.1.0.1', true],
    ['64:ff9b:1::169.254.169.254', false],
    ['64:ff9b:1::10.0.0.1', false],
    ['64:ff9b:1::10.1.0.1', true],
  ])('allows %s: %p', (address, isAllowed) => {
    expect(translating.allows(address)).toBe(isAllowed)
    expect(translating.allowsHost(new URL(`http://[${address}]/`).hostname)).toBe(isAllowed)
  })
})

test.each(['64:ff9b::', '::ffff:', '2a00:1450::5efe:'])(
  'an address below %s gets the result of the IPv4 address in it',
  (prefix) => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(guard.allows(`${prefix}${address}`)).toBe(guard.allows(address))
      }),
    )
  },
)

describe('allowed networks', () => {
  const onPremise = createAddressGuard(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1', '::ffff:10.3.0.0/112'])

  test.each([
    ['10.1.2.3', true],
    ['10.2.0.1', false],
    ['::ffff:10.1.2.3', true],
    ['10.3.1.1', true],
    ['fd00:1::5', true],
    ['fd00:2::5', false],
    ['127.0.0.1', true],
    ['127.0.0.2', false],
  ])('%s: %p', (address, isAllowed) => {
    expect(onPremise.allows(address)).toBe(isAllowed)
  })

  test('localhost names are allowed where loopback is allowed', () => {
    expect(onPremise.allowsHost('localhost')).toBe(true)
  })
})

test('any text gets a result', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof guard.allows(text)).toBe('boolean')
      expect(typeof guard.allowsHost(text)).toBe('boolean')
    }),
  )
})
