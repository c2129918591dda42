import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { cannotStart, messageOf } from './exit.ts'
import { readIfThere, writeDurable } from './files.ts'
import type { Secrets } from './platform/platform.ts'

/** The key pair of the host. The private key never leaves this object and its file. */
export interface AgentKey {
  /** Base64 of the SPKI DER of the public key. */
  publicKey: string
  /** Returns the base64 Ed25519 signature over a text. */
  sign(text: string): string
}

const wrap = (privateKey: KeyObject): AgentKey => ({
  publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
  sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
})

const keyPath = (stateDir: string): string => join(stateDir, 'key.pem')

/** Returns the key of a state directory, or undefined if it has no key yet. */
export const loadKey = (stateDir: string, secrets: Secrets): AgentKey | undefined => {
  const stored = readIfThere(keyPath(stateDir))
  if (stored === undefined) return undefined
  const refuse = (why: string) =>
    cannotStart(`${keyPath(stateDir)} ${why}. Remove the state directory and enrol the host again.`)
  let pem: string
  try {
    pem = secrets.open(stored)
  } catch (error) {
    throw refuse(`cannot be opened: ${messageOf(error)}`)
  }
  try {
    return wrap(createPrivateKey(pem))
  } catch {
    throw refuse('is not a valid private key')
  }
}

/** Creates a key pair and stores it durably (mode 0600), sealed if the system can seal it. */
export const createKey = (stateDir: string, secrets: Secrets): AgentKey => {
  const { privateKey } = generateKeyPairSync('ed25519')
  writeDurable(keyPath(stateDir), secrets.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()))
  return wrap(privateKey)
}

/** Returns the SHA-256 (hex) of a text. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
