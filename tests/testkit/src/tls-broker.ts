import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, localProvider, openHome, temporaryFolder } from '@switchhook/test-servers'
import type { CertificateAuthority, ServerCertificate } from './certificates.ts'

/** Starts a private RabbitMQ that serves TLS itself, with the program of this machine. Takes about ten seconds. */
export async function startTlsBroker(
  { caFile }: CertificateAuthority,
  { certificateFile, keyFile }: ServerCertificate,
) {
  const folder = temporaryFolder('switchhook-tls-')
  const home = openHome(folder)
  const port = await freePort()
  // RabbitMQ reads every file in this folder.
  const settings = join(home.dataDir, 'rabbitmq', 'conf.d')
  mkdirSync(settings, { recursive: true })
  writeFileSync(
    join(settings, '50-tls.conf'),
    [
      `listeners.ssl.1 = 127.0.0.1:${port}`,
      `ssl_options.cacertfile = ${caFile}`,
      `ssl_options.certfile = ${certificateFile}`,
      `ssl_options.keyfile = ${keyFile}`,
      'ssl_options.verify = verify_none',
      'ssl_options.fail_if_no_peer_cert = false',
      '',
    ].join('\n'),
  )
  const provider = localProvider(home, () => {}, { stopGraceMs: 0 })
  await provider.start(['rabbitmq'])
  return {
    port,
    close: async (): Promise<void> => {
      await provider.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
