import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeCertificateAuthority, startTlsProxy } from '@switchhook/testkit'
import { createAriClient } from './ari-client.ts'

test('a certificate of another authority is refused, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  const [trusted, other] = await Promise.all([makeCertificateAuthority(), makeCertificateAuthority()])
  const asterisk = createServer((_request, response) => response.end('{}'))
  await new Promise<void>((resolve) => void asterisk.listen(0, '127.0.0.1', resolve))
  const proxy = await startTlsProxy(
    `http://127.0.0.1:${(asterisk.address() as AddressInfo).port}`,
    await other.sign('DNS:localhost'),
  )
  const url = new URL(`https://localhost:${proxy.port}`)
  const client = createAriClient({ url, user: 'switchhook', password: 'secret', ca: trusted.ca })
  try {
    await expect(client.request('GET', '/asterisk/info')).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/certificate|self.signed/) },
    })
    proxy.use(await trusted.sign('DNS:localhost'))
    expect(await client.request('GET', '/asterisk/info')).toEqual({ status: 200, body: {} })
  } finally {
    await client.close()
    await proxy.close()
    await new Promise((resolve) => void asterisk.close(resolve))
    trusted.close()
    other.close()
  }
})
