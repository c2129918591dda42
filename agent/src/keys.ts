import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { join } from 'node:path'
import { cannotStart } from './exit.ts'
import { readIfThere, writeDurable } from './files.ts'

/** The host's identity: the private key never leaves this object and its file. */
export interface AgentKey {
  /** Base64 of the SPKI DER of the public key. */
  publicKey: string
  /** Base64 Ed25519 signature over a text. */
  sign(text: string): string
}

const wrap = (privateKey: KeyObject): AgentKey => ({
  publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
  sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
})

const keyPath = (stateDir: string): string => join(stateDir, 'key.pem')

/** The key of a state directory, or undefined when none was made yet. */
export const loadKey = (stateDir: string): AgentKey | undefined => {
  const pem = readIfThere(keyPath(stateDir))
  if (pem === undefined) return undefined
  try {
    return wrap(createPrivateKey(pem))
  } catch {
    throw cannotStart(
      `${keyPath(stateDir)} is not a readable private key. Remove the state directory and enrol the host anew.`,
    )
  }
}

/** Makes a key pair and stores it durably (0600) before giving it back. */
export const createKey = (stateDir: string): AgentKey => {
  const { privateKey } = generateKeyPairSync('ed25519')
  writeDurable(keyPath(stateDir), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  return wrap(privateKey)
}

/** Whether `signature` (base64) over the text's bytes is by the Ed25519 key `spki` (base64 DER). Never throws. */
export const verifySignature = (spki: string, text: string, signature: string): boolean => {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** SHA-256 (hex) of a text. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
