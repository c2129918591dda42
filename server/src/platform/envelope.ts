import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Secret } from './secret.ts'

/**
 * Secrets at rest: each is encrypted by a key of its own (AES-256-GCM), and that key by one outside the database. Both are
 * bound to the row and member they stand in, so that a box can not be moved to another row and be used there.
 *
 * Box: version (1 byte), nonce and wrapped key (12 + 32 + 16), nonce, text and tag (12 + n + 16).
 */
export interface Envelope {
  /** @param place names row and member (`connection 0197… password`) */
  seal(secret: Secret, place: string): Buffer
  /** @throws when the box was made by another key, for another place, or was changed */
  open(box: Buffer, place: string): Secret
}

const version = 1
const nonceSize = 12
const keySize = 32
const tagSize = 16
const wrappedSize = nonceSize + keySize + tagSize

const encrypt = (key: Buffer, plain: Buffer, place: string): Buffer => {
  const nonce = randomBytes(nonceSize)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

const decrypt = (key: Buffer, box: Buffer, place: string): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, nonceSize))
    .setAAD(Buffer.from(place))
    .setAuthTag(box.subarray(-tagSize))
  return Buffer.concat([decipher.update(box.subarray(nonceSize, -tagSize)), decipher.final()])
}

export const createEnvelope = (rootKey: Secret<Buffer>): Envelope => ({
  seal: (secret, place) => {
    const key = randomBytes(keySize)
    const wrapped = encrypt(rootKey.reveal(), key, `key of ${place}`)
    return Buffer.concat([Buffer.of(version), wrapped, encrypt(key, Buffer.from(secret.reveal(), 'utf8'), place)])
  },
  open: (box, place) => {
    if (box[0] !== version || box.length < 1 + wrappedSize + nonceSize + tagSize) throw new Error('not a sealed secret')
    const key = decrypt(rootKey.reveal(), box.subarray(1, 1 + wrappedSize), `key of ${place}`)
    return new Secret(decrypt(key, box.subarray(1 + wrappedSize), place).toString('utf8'))
  },
})
