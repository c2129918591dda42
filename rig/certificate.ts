import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureOwnCertificate } from '../server/src/platform/tls/index.ts'

/** A certificate for 127.0.0.1 by a CA of its own: the environment that makes a server serve it, and the CA to trust. */
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
