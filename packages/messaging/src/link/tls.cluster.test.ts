import { makeCertificateAuthority, recordingLog, startTlsBroker } from '@switchhook/testkit'
import { openBroker } from '../broker.ts'
import { openQuarantine } from '../quarantine/quarantine.ts'
import { sampleDelivery } from '../testing/samples.ts'
import { serviceTopology } from '../topology/topology.ts'

test('a RabbitMQ that serves TLS itself is used with its authority, and refused with another', async () => {
  const [trusted, other] = await Promise.all([makeCertificateAuthority(), makeCertificateAuthority()])
  const server = await startTlsBroker(trusted, await trusted.sign('DNS:localhost'))
  const url = `amqps://localhost:${server.port}`
  const broker = await openBroker({
    url,
    ca: trusted.ca,
    topology: serviceTopology([]),
    log: recordingLog(),
    name: 'test',
  })
  await broker.publishDelivery(sampleDelivery())
  await broker.close()
  await expect(openQuarantine({ url, ca: other.ca, name: 'test' })).rejects.toThrow('RabbitMQ cannot be reached')
  const quarantine = await openQuarantine({ url, ca: trusted.ca, name: 'test' })
  expect(await quarantine.list(1)).toEqual([])
  await quarantine.close()
  await server.close()
  trusted.close()
  other.close()
}, 120_000)
