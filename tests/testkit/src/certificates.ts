import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The key and certificate of a server, in files and as PEM. */
export interface ServerCertificate {
  readonly keyFile: string
  readonly certificateFile: string
  readonly key: string
  readonly certificate: string
}

/** An authority that signs certificates, made with openssl for one test. */
export interface CertificateAuthority {
  readonly caFile: string
  readonly ca: string
  /** @param names subject alternative names, such as `DNS:localhost` or `IP:127.0.0.1` */
  sign(...names: readonly string[]): Promise<ServerCertificate>
  close(): void
}

export async function makeCertificateAuthority(): Promise<CertificateAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-ca-'))
  const openssl = async (command: string): Promise<void> =>
    void (await promisify(execFile)('openssl', command.split(' '), { cwd: folder, timeout: 20_000 }))
  const newKey = 'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
  await openssl(`${newKey} -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.pem`)
  let signed = 0
  return {
    caFile: join(folder, 'ca.pem'),
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    sign: async (...names) => {
      const name = `server-${++signed}`
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names.join(',')}\n`)
      await openssl(`${newKey} -subj /CN=server -keyout ${name}.key -out ${name}.csr`)
      await openssl(
        `x509 -req -in ${name}.csr -days 2 -extfile ${name}.ext -out ${name}.pem -CA ca.pem -CAkey ca.key -CAcreateserial`,
      )
      const [keyFile, certificateFile] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
      return {
        keyFile,
        certificateFile,
        key: readFileSync(keyFile, 'utf8'),
        certificate: readFileSync(certificateFile, 'utf8'),
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
