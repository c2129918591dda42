import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealingKeys } from './keys.ts'
import { Secret } from './secret.ts'

/**
 * Secrets at rest: each has its own key (AES-256-GCM), which is encrypted by a key outside the database. Both are bound
 * to their row and column, so a ciphertext copied to another row cannot be opened.
 *
 * Format: version (1 byte), number of the outer key (4), nonce and wrapped key (12 + 32 + 16), nonce, text and tag (12
 * + n + 16).
 */
export interface Envelope {
  /** @param context names the row and column (`connection 0197… password`) */
  seal(secret: Secret, context: string): Buffer
  /** @throws if another key or context was used, or the ciphertext was changed */
  open(ciphertext: Buffer, context: string): Secret
  /** Wraps the inner key with the newest outer key; null if it already is. Does not decrypt the content. */
  rewrap(ciphertext: Buffer, context: string): Buffer | null
}

const version = 2
const headSize = 1 + 4
const nonceSize = 12
const keySize = 32
const tagSize = 16
const wrappedSize = nonceSize + keySize + tagSize

const encrypt = (key: Buffer, plain: Buffer, context: string): Buffer => {
  const nonce = randomBytes(nonceSize)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

const decrypt = (key: Buffer, ciphertext: Buffer, context: string): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, nonceSize))
    .setAAD(Buffer.from(context))
    .setAuthTag(ciphertext.subarray(-tagSize))
  return Buffer.concat([decipher.update(ciphertext.subarray(nonceSize, -tagSize)), decipher.final()])
}

export const createEnvelope = (keys: Pick<SealingKeys, 'current' | 'byId'>): Envelope => {
  function wrap(key: Buffer, context: string): Buffer {
    const { id, key: outer } = keys.current()
    const head = Buffer.alloc(headSize)
    head.writeUInt8(version)
    head.writeUInt32BE(id, 1)
    return Buffer.concat([head, encrypt(outer.reveal(), key, `key of ${context}`)])
  }
  function unwrap(ciphertext: Buffer, context: string): Buffer {
    if (ciphertext[0] !== version || ciphertext.length < headSize + wrappedSize + nonceSize + tagSize)
      throw new Error('invalid sealed secret')
    const outer = keys.byId(ciphertext.readUInt32BE(1))
    if (outer === undefined) throw new Error('sealed with a key that is not in the key file')
    return decrypt(outer.reveal(), ciphertext.subarray(headSize, headSize + wrappedSize), `key of ${context}`)
  }
  return {
    seal: (secret, context) => {
      const key = randomBytes(keySize)
      return Buffer.concat([wrap(key, context), encrypt(key, Buffer.from(secret.reveal(), 'utf8'), context)])
    },
    open: (ciphertext, context) =>
      new Secret(
        decrypt(unwrap(ciphertext, context), ciphertext.subarray(headSize + wrappedSize), context).toString('utf8'),
      ),
    rewrap: (ciphertext, context) =>
      ciphertext.readUInt32BE(1) === keys.current().id
        ? null
        : Buffer.concat([wrap(unwrap(ciphertext, context), context), ciphertext.subarray(headSize + wrappedSize)]),
  }
}
