import { COMBINATIONS, type Combination, renderObjects } from '@switchhook/chart'
import { createAddressGuard } from '@switchhook/egress'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { createNetwork, type Pod } from './network-policy.ts'

const pod = (name: string): Pod => ({
  labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'switchhook' },
})
const elsewhere = (namespace: string, labels = {}): Pod => ({ namespace, labels })
const [api, fanout, worker, rabbitmq, redis] = ['api', 'fanout', 'delivery-worker', 'rabbitmq', 'redis'].map(pod) as [
  Pod,
  Pod,
  Pod,
  Pod,
  Pod,
]
/** The ranges of IANA's special-purpose address registries, and Azure's WireServer, that the address guard blocks. */
const SPECIAL = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  '::/96 ::ffff:10.0.0.0/104 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20',
  '5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
].flatMap((line) => line.split(' '))

/** An arbitrary address of a network. */
function addressWithin(cidr: string): fc.Arbitrary<string> {
  const [network, bits] = ipaddr.parseCIDR(cidr)
  const bytes = network.toByteArray()
  return fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map((any) =>
    ipaddr
      .fromByteArray(
        bytes.map((byte, index) => {
          const free = 0xff >> Math.min(Math.max(bits - 8 * index, 0), 8)
          return byte | ((any[index] ?? 0) & free)
        }),
      )
      .toString(),
  )
}

const dns = elsewhere('kube-system', { 'k8s-app': 'kube-dns' })

const networkOf = (combination: Combination) => createNetwork(renderObjects(combination))

// Of `external`, whose broker and Redis are outside the cluster, and `networks`, which opens more, see below.
const usual = (Object.keys(COMBINATIONS) as Combination[]).filter(
  (name) => !['external', 'networks', 'everything'].includes(name),
)

describe.each(usual)('%s', (combination) => {
  const network = networkOf(combination)
  const amqp = combination === 'tls' ? 5671 : 5672

  test.each([
    '169.254.169.254',
    '168.63.129.16',
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    'fd00:ec2::254',
    'fe80::1',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ])('workers cannot reach %s', (address) => {
    expect(network.mayReachAddress(worker, address, 443)).toBe(false)
    expect(network.mayReachAddress(worker, address, 80)).toBe(false)
  })

  test.each(['93.184.215.14', '8.8.8.8', '2606:2800:21f:cb07::1'])('workers reach %s on any TCP port', (address) => {
    expect(network.mayReachAddress(worker, address, 443)).toBe(true)
    expect(network.mayReachAddress(worker, address, 8443)).toBe(true)
    expect(network.mayReachAddress(worker, address, 443, 'UDP')).toBe(false)
  })

  test('workers reach RabbitMQ, Redis and DNS, and nothing else in the cluster', () => {
    expect(network.mayReachPod(worker, rabbitmq, amqp)).toBe(true)
    expect(network.mayReachPod(worker, redis, 6379)).toBe(true)
    expect(network.mayReachPod(worker, dns, 53, 'UDP')).toBe(true)
    expect(network.mayReachPod(worker, rabbitmq, 15672)).toBe(false)
    expect(network.mayReachPod(worker, api, 8080)).toBe(false)
    expect(network.mayReachPod(worker, api, 9100)).toBe(false)
    expect(network.mayReachPod(worker, elsewhere('default'), 443)).toBe(false)
    expect(network.mayReachPod(worker, elsewhere('kube-system'), 53, 'UDP')).toBe(false)
  })

  test.each([53, 1_053, 5_353, 8_053])(
    'the pods of DNS are reached where they listen behind their Service: %i',
    (port) => {
      for (const service of [api, worker, fanout]) {
        expect(network.mayReachPod(service, dns, port, 'UDP')).toBe(true)
        expect(network.mayReachPod(service, dns, port, 'TCP')).toBe(true)
      }
    },
  )

  test('fan-out reaches RabbitMQ, Redis and DNS, and nothing outside the cluster', () => {
    expect(network.mayReachPod(fanout, rabbitmq, amqp)).toBe(true)
    expect(network.mayReachPod(fanout, redis, 6379)).toBe(true)
    expect(network.mayReachPod(fanout, dns, 53, 'UDP')).toBe(true)
    expect(network.mayReachAddress(fanout, '93.184.215.14', 443)).toBe(false)
  })

  test('the api reaches external addresses over HTTPS only, for signing keys', () => {
    expect(network.mayReachAddress(api, '93.184.215.14', 443)).toBe(true)
    expect(network.mayReachAddress(api, '93.184.215.14', 80)).toBe(false)
    expect(network.mayReachAddress(api, '169.254.169.254', 443)).toBe(false)
    expect(network.mayReachAddress(api, '168.63.129.16', 443)).toBe(false)
    expect(network.mayReachAddress(api, '10.0.0.1', 443)).toBe(false)
  })

  test('no other pod reaches RabbitMQ, Redis or the health ports', () => {
    for (const stranger of [elsewhere('default'), pod('stranger')]) {
      expect(network.mayReachPod(stranger, rabbitmq, amqp)).toBe(false)
      expect(network.mayReachPod(stranger, redis, 6379)).toBe(false)
      expect(network.mayReachPod(stranger, worker, 9100)).toBe(false)
    }
  })

  test('Prometheus reaches what it scrapes: services, RabbitMQ and the exporter of Redis', () => {
    const prometheus = elsewhere('monitoring')
    for (const service of [api, fanout, worker]) expect(network.mayReachPod(prometheus, service, 9100)).toBe(true)
    expect(network.mayReachPod(prometheus, rabbitmq, 15692)).toBe(true)
    expect(network.mayReachPod(prometheus, redis, 9121)).toBe(combination !== 'development')
    expect(network.mayReachPod(prometheus, redis, 6379)).toBe(false)
  })

  test('KEDA and the operators of RabbitMQ reach its HTTP API, and KEDA only if it scales the workers', () => {
    const isScaledByKeda = !['development', 'without-keda'].includes(combination)
    const management = combination === 'tls' ? 15671 : 15672
    expect(network.mayReachPod(elsewhere('keda'), rabbitmq, management)).toBe(isScaledByKeda)
    expect(network.mayReachPod(elsewhere('rabbitmq-system'), rabbitmq, 15672)).toBe(combination !== 'development')
    expect(network.mayReachPod(elsewhere('default'), rabbitmq, 15672)).toBe(false)
  })

  test('clients reach the api as the values allow', () => {
    const namespace = combination === 'gateway' ? 'gateways' : 'ingress-nginx'
    expect(network.mayReachPod(elsewhere(namespace), api, 8080)).toBe(true)
    expect(network.mayReachPod(elsewhere('default'), api, 8080)).toBe(combination === 'development')
    expect(network.mayReachPod(elsewhere(namespace), api, 9100)).toBe(false)
  })

  test('the pod of `helm test` reaches what it asks, and nothing else', () => {
    const test = pod('smoke-test')
    expect(network.mayReachPod(test, api, 8080)).toBe(true)
    for (const service of [api, fanout, worker]) expect(network.mayReachPod(test, service, 9100)).toBe(true)
    expect(network.mayReachPod(test, dns, 53, 'UDP')).toBe(true)
    expect(network.mayReachPod(test, redis, 6379)).toBe(false)
    expect(network.mayReachPod(test, rabbitmq, amqp)).toBe(false)
  })
})

const production = networkOf('production')

test.each(SPECIAL)('the policies block all of %s, as the address guard in the worker does', (cidr) => {
  const guard = createAddressGuard([])
  fc.assert(
    fc.property(addressWithin(cidr), (address) => {
      expect(guard.allows(address)).toBe(false)
      expect(production.mayReachAddress(worker, address, 443)).toBe(false)
    }),
  )
})

test('an address behind NAT64 is allowed or blocked as the IPv4 address in it, by the policies and by the address guard', () => {
  const guard = createAddressGuard([])
  const special = fc.oneof(...SPECIAL.filter((cidr) => !cidr.includes(':')).map(addressWithin))
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), special), (address) => {
      const isAllowed = guard.allows(address)
      expect(guard.allows(`64:ff9b::${address}`)).toBe(isAllowed)
      expect(production.mayReachAddress(worker, `64:ff9b::${address}`, 443)).toBe(isAllowed)
    }),
    { numRuns: 2_000 },
  )
})

test('the policies allow every address that the address guard allows', () => {
  const guard = createAddressGuard([])
  const given = fc.ipV6().map((address) => address.replace(/^[^:]*:/, '2a00:'))
  fc.assert(
    fc.property(
      fc.oneof(fc.ipV4(), given),
      (one) => !guard.allows(one) || production.mayReachAddress(worker, one, 443),
    ),
    { numRuns: 5_000 },
  )
})

test.each(usual)('%s has the same addresses of webhooks as production', (combination) => {
  const internet = (name: Combination) =>
    renderObjects(name).find(({ metadata }) => metadata.name === 'delivery-worker-to-internet')?.['spec']
  expect(internet(combination)).toEqual(internet('production'))
})

test('in development, workers reach pods with the receiver label', () => {
  const network = networkOf('development')
  expect(network.mayReachPod(worker, { labels: { 'switchhook/receiver': 'true' } }, 9000)).toBe(true)
  expect(network.mayReachPod(worker, { labels: {} }, 9000)).toBe(false)
})

test('in production, no label lets workers reach a pod', () => {
  const receiver = { labels: { 'switchhook/receiver': 'true' } }
  expect(networkOf('production').mayReachPod(worker, receiver, 9000)).toBe(false)
})

test('in production, the RabbitMQ nodes reach each other', () => {
  const network = networkOf('production')
  expect(network.mayReachPod(rabbitmq, rabbitmq, 25672)).toBe(true)
  expect(network.mayReachPod(rabbitmq, rabbitmq, 4369)).toBe(true)
  expect(network.mayReachPod(api, rabbitmq, 25672)).toBe(false)
})

test('with TLS, no service reaches the ports without it', () => {
  const network = networkOf('tls')
  for (const service of [api, fanout, worker]) expect(network.mayReachPod(service, rabbitmq, 5672)).toBe(false)
})

test('spans reach the collector, if there is one', () => {
  const collector = elsewhere('observability', { 'app.kubernetes.io/name': 'collector' })
  const network = networkOf('tracing')
  for (const service of [api, fanout, worker]) {
    expect(network.mayReachPod(service, collector, 4318)).toBe(true)
    expect(network.mayReachPod(service, elsewhere('observability'), 4318)).toBe(false)
    expect(production.mayReachPod(service, collector, 4318)).toBe(false)
  }
})

test('services reach an external RabbitMQ and Redis at their addresses and ports only', () => {
  const network = networkOf('external')
  for (const service of [api, fanout, worker]) {
    expect(network.mayReachAddress(service, '10.20.0.7', 5671)).toBe(true)
    expect(network.mayReachAddress(service, '10.20.1.7', 6379)).toBe(true)
    expect(network.mayReachAddress(service, '10.20.0.7', 6379)).toBe(false)
    expect(network.mayReachAddress(service, '10.20.2.7', 5671)).toBe(false)
  }
})

test('the api alone reaches Asterisk, at its port only', () => {
  const network = networkOf('asterisk')
  expect(network.mayReachAddress(api, '10.50.0.10', 8089)).toBe(true)
  expect(network.mayReachAddress(api, '10.50.0.10', 22)).toBe(false)
  expect(network.mayReachAddress(api, '10.50.0.11', 8089)).toBe(false)
  for (const service of [fanout, worker]) expect(network.mayReachAddress(service, '10.50.0.10', 8089)).toBe(false)
  expect(production.mayReachAddress(api, '10.50.0.10', 8089)).toBe(false)
})

test('with a proxy for egress, workers reach the proxy and no other address', () => {
  const overrides = ['egressProxy.urlSecret=egress-proxy', 'egressProxy.networks={10.70.0.5/32}']
  const network = createNetwork(renderObjects('production', { overrides }))
  expect(network.mayReachAddress(worker, '10.70.0.5', 3128)).toBe(true)
  expect(network.mayReachAddress(worker, '10.70.0.5', 443)).toBe(false)
  expect(network.mayReachAddress(worker, '93.184.215.14', 443)).toBe(false)
  expect(network.mayReachAddress(api, '10.70.0.5', 3128)).toBe(false)
})

test('only the job of the backup reaches the stores for a copy', () => {
  const network = networkOf('backup')
  const backup = pod('backup')
  expect(network.mayReachPod(backup, redis, 6379)).toBe(true)
  expect(network.mayReachPod(backup, rabbitmq, 15672)).toBe(true)
  expect(network.mayReachPod(backup, rabbitmq, 5672)).toBe(false)
  expect(network.mayReachAddress(backup, '93.184.215.14', 443)).toBe(false)
  expect(production.mayReachPod(backup, redis, 6379)).toBe(false)
})

test('the job of the users of RabbitMQ reaches only the HTTP API', () => {
  const users = pod('rabbitmq-users')
  expect(production.mayReachPod(users, rabbitmq, 15672)).toBe(true)
  expect(networkOf('tls').mayReachPod(users, rabbitmq, 15671)).toBe(true)
  expect(production.mayReachPod(users, rabbitmq, 5672)).toBe(false)
  expect(production.mayReachPod(users, redis, 6379)).toBe(false)
  expect(production.mayReachAddress(users, '93.184.215.14', 443)).toBe(false)
})

test('namespaces, DNS servers and networks are values', () => {
  const network = networkOf('networks')
  for (const namespace of ['traefik', 'team-a']) expect(network.mayReachPod(elsewhere(namespace), api, 8080)).toBe(true)
  expect(network.mayReachPod(elsewhere('ingress-nginx'), api, 8080)).toBe(false)
  expect(network.mayReachPod(elsewhere('prometheus'), worker, 9100)).toBe(true)
  expect(network.mayReachPod(elsewhere('keda-system'), rabbitmq, 15672)).toBe(true)
  expect(network.mayReachPod(elsewhere('rabbitmq-operator'), rabbitmq, 15672)).toBe(true)
  expect(network.mayReachAddress(worker, '169.254.20.10', 53, 'UDP')).toBe(true)
  expect(network.mayReachAddress(worker, '169.254.20.10', 80)).toBe(false)
  expect(network.mayReachAddress(api, '10.50.0.20', 8443)).toBe(true)
  expect(network.mayReachAddress(worker, '10.50.0.20', 8443)).toBe(false)
  for (const port of [80, 443, 8443]) {
    expect(network.mayReachAddress(worker, '10.60.1.1', port)).toBe(true)
    expect([port, network.mayReachAddress(worker, '10.61.0.1', port)]).toEqual([port, port !== 80])
  }
  for (const address of ['198.41.0.4', '2a00:1450::1']) {
    expect(network.mayReachAddress(worker, address, 443)).toBe(false)
    expect(production.mayReachAddress(worker, address, 443)).toBe(true)
  }
})
