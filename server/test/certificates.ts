import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { issueCertificate } from '@portcullis/platform/server/tls/certificate.ts'

const day = 86_400_000
/** Long enough to cover the test clock and the real clock. */
const longMs = 20 * 365 * day

export interface IssuedCertificate {
  cert: string
  key: string
}

/** Creates a certificate authority for a test. */
export const createAuthority = async (name = 'Test authority') => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const now = Date.now()
  const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string
  return {
    pem: await issueCertificate({
      subject: name,
      issuer: name,
      key: privateKey,
      issuerKey: privateKey,
      notBefore: now - day,
      notAfter: now + longMs,
      server: null,
    }),
    /** Issues a server certificate for these names and addresses. `expired` ended an hour ago. */
    issue: async (names: readonly string[], state: 'valid' | 'expired' = 'valid'): Promise<IssuedCertificate> => {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
      return {
        key: pemOf(leaf),
        cert: await issueCertificate({
          subject: names[0] ?? 'nobody',
          issuer: name,
          key: leaf,
          issuerKey: privateKey,
          notBefore: now - 2 * day,
          notAfter: state === 'expired' ? now - 3_600_000 : now + longMs,
          server: {
            names: names.filter((one) => isIP(one) === 0),
            addresses: names.filter((one) => isIP(one) !== 0),
          },
        }),
      }
    },
  }
}
