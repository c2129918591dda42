import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureOwnCertificate } from '../../platform/server/tls/index.ts'

/** Creates a certificate for 127.0.0.1. Returns its CA, and the environment for a server that uses the certificate. */
export const makeCertificate = async (
  folder: string,
): Promise<{ env: Readonly<Record<string, string>>; ca: string }> => {
  mkdirSync(folder, { recursive: true })
  const [certFile, keyFile] = [join(folder, 'served.crt'), join(folder, 'served.key')]
  const { cert, key } = await ensureOwnCertificate({
    dir: join(folder, 'tls'),
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    now: Date.now(),
  })
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  return {
    env: { PORTCULLIS_TLS_CERT: certFile, PORTCULLIS_TLS_KEY: keyFile },
    ca: readFileSync(join(folder, 'tls', 'ca.crt'), 'utf8'),
  }
}
