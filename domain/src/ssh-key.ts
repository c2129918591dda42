import { createPrivateKey, type KeyObject } from 'node:crypto'

/** A private key in a format that the SSH client reads, or why it cannot be used. */
export type SshKey = { key: string } | { fault: string }

const rewrite = 'Run ssh-keygen -p -f KEYFILE, which rewrites the key in the OpenSSH format, and enter the result'

const text = (value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Returns an Ed25519 key in the OpenSSH format. Node cannot write it, and no other PEM format of such keys is in use. */
const openSshEd25519 = (key: KeyObject): string => {
  const { x = '', d = '' } = key.export({ format: 'jwk' })
  const [publicKey, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')]
  const type = text('ssh-ed25519')
  const check = Buffer.alloc(8)
  const inner = Buffer.concat([check, type, text(publicKey), text(Buffer.concat([seed, publicKey])), text('')])
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, i) => i + 1))
  const all = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[text('none'), text('none'), text(''), Buffer.from([0, 0, 0, 1])],
    text(Buffer.concat([type, text(publicKey)])),
    text(Buffer.concat([inner, padding])),
  ])
  const lines = all.toString('base64').match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

const convert = (pem: string): SshKey => {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    return { fault: 'is damaged. Enter the complete key, from its BEGIN line to its END line' }
  }
  const curve = key.asymmetricKeyDetails?.namedCurve ?? ''
  if (key.asymmetricKeyType === 'rsa') return { key: key.export({ type: 'pkcs1', format: 'pem' }).toString() }
  if (key.asymmetricKeyType === 'ed25519') return { key: openSshEd25519(key) }
  if (key.asymmetricKeyType === 'ec' && /^(?:prime256v1|secp384r1|secp521r1)$/.test(curve))
    return { key: key.export({ type: 'sec1', format: 'pem' }).toString() }
  return { fault: `has the type ${key.asymmetricKeyType} ${curve}`.trim().concat('. Use an RSA, ECDSA or Ed25519 key') }
}

/** Returns the cipher of a key in the OpenSSH format; empty: it cannot be read, so the client reports what is wrong. */
const openSshCipher = (pem: string): string => {
  const bytes = Buffer.from(pem.replace(/-----[^-]*-----|\s/g, ''), 'base64')
  const start = 'openssh-key-v1\0'.length
  if (bytes.toString('latin1', 0, start) !== 'openssh-key-v1\0' || bytes.length < start + 4) return ''
  return bytes.toString('latin1', start + 4, start + 4 + Math.min(64, bytes.readUInt32BE(start)))
}

/** Converts a private key to a format that the SSH client reads. Keys with a passphrase stay encrypted. */
export const sshKeyOf = (given: string): SshKey => {
  const pem = given.trim()
  const kind = /^-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----/.exec(pem)?.[1]?.trim()
  if (kind === undefined) return { fault: 'is not a private key in OpenSSH or PEM format' }
  if (kind === 'ENCRYPTED') return { fault: `is an encrypted PKCS#8 key, which the worker cannot read. ${rewrite}` }
  if (kind === '') return convert(pem)
  const cipher = kind === 'OPENSSH' ? openSshCipher(pem) : 'none'
  return cipher === '' || cipher === 'none' || /^aes\d{3}-(?:cbc|ctr|gcm@openssh\.com)$/.test(cipher)
    ? { key: given }
    : { fault: `is encrypted with ${cipher.replace(/[^\x21-\x7e]/g, '?')}, which the worker cannot read. ${rewrite}` }
}
