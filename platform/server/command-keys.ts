import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { commandKeyRotationText } from '@portcullis/contract/agent-signed-texts.ts'
import type { CommandKeyRotation } from '@portcullis/contract/command-keys.ts'
import { isSignedBy, mustExist, publicKeyHash } from '@portcullis/domain'
import type { KeyFileAccess, StoredCommandKey } from './key-file.ts'

export interface CommandSigner {
  number: number
  /** Base64 Ed25519 signature. */
  sign(text: string): string
  /** Signs many texts in the thread pool to keep the event loop free: one signature takes 40 µs. */
  signAll(texts: readonly string[]): Promise<string[]>
}

const signInPool = promisify(sign) as (algorithm: null, data: Buffer, key: KeyObject) => Promise<Buffer>
/**
 * Signatures that wait for the thread pool at once. They take about 4 ms, so other work, such as password hashes, is
 * not delayed for long.
 */
const signedAtOnce = 100

export interface CommandKeys {
  /** Returns the newest key, which new hosts pin. */
  newest(): { number: number; publicKey: string; id: string }
  /** Returns the signer for a host: the key that it holds until that is retired, then the newest. */
  signerFor(number: number, now: number): CommandSigner
  /** Returns the number of the key with this SHA-256 (hex), or undefined if it is not a key of this server. */
  numberOf(id: string): number | undefined
  /** Returns the rotations after a key, oldest first. */
  rotationsAfter(number: number): CommandKeyRotation[]
  /** Returns whether a key signed a text. A retired key verifies nothing, because someone else may hold it. */
  isSignedBy(number: number, text: string, signature: string, now: number): boolean
  list(): readonly StoredCommandKey[]
  /** Creates a key, signed by the newest one, which keeps signing for hosts that hold it for `keepMs`. */
  rotate(now: number, keepMs: number): CommandKeyRotation
  /** Removes the private halves of expired keys from the file. Returns their number. */
  forgetRetired(now: number): number
}

const spkiOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
const privateKeyOf = (base64: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'pkcs8' })

const signerOf = (number: number, key: KeyObject): CommandSigner => ({
  number,
  sign: (text) => sign(null, Buffer.from(text), key).toString('base64'),
  signAll: async (texts) => {
    const signatures: string[] = []
    for (let at = 0; at < texts.length; at += signedAtOnce) {
      const some = texts.slice(at, at + signedAtOnce).map((text) => signInPool(null, Buffer.from(text), key))
      for (const signature of await Promise.all(some)) signatures.push(signature.toString('base64'))
    }
    return signatures
  },
})

/** Manages the keys that sign commands, policies and revocations for hosts. Reads the file again when it changes. */
export const createCommandKeys = (file: KeyFileAccess): CommandKeys => {
  let known: readonly StoredCommandKey[] = []
  let signers = new Map<number, CommandSigner>()
  let seen = ''

  function stored(): readonly StoredCommandKey[] {
    const { commandKeys, commandPrivateKey } = file.read()
    if (commandKeys !== undefined && commandKeys.length > 0) return commandKeys
    const publicKey = spkiOf(privateKeyOf(commandPrivateKey))
    const createdAt = '1970-01-01T00:00:00.000Z'
    return [{ number: 0, publicKey, createdAt, signature: null, privateKey: commandPrivateKey, retiresAt: null }]
  }
  function all(): readonly StoredCommandKey[] {
    const state = file.state()
    if (state !== seen) {
      known = stored()
      signers = new Map(
        known.flatMap(({ number, privateKey }) => {
          if (privateKey === null) return []
          const key = privateKeyOf(privateKey)
          return [[number, signerOf(number, key)]]
        }),
      )
      seen = state
    }
    return known
  }
  const newest = (): StoredCommandKey => mustExist(all().at(-1), 'the command key')
  const isOver = ({ retiresAt }: StoredCommandKey, now: number): boolean =>
    retiresAt !== null && Date.parse(retiresAt) <= now

  const rotationOf = (key: StoredCommandKey, before: StoredCommandKey): CommandKeyRotation => ({
    number: key.number,
    oldKey: before.publicKey,
    newKey: key.publicKey,
    createdAt: key.createdAt,
    signature: mustExist(key.signature, 'the signature of the rotation'),
  })

  return {
    newest: () => {
      const { number, publicKey } = newest()
      return { number, publicKey, id: publicKeyHash(publicKey) }
    },
    signerFor: (number, now) => {
      const wanted = all().find((key) => key.number === number && !isOver(key, now))
      return mustExist(signers.get(wanted?.number ?? -1) ?? signers.get(newest().number), 'the signer')
    },
    numberOf: (id) => all().find(({ publicKey }) => publicKeyHash(publicKey) === id)?.number,
    rotationsAfter: (number) => {
      const keys = all()
      return keys.flatMap((key, i) => {
        const before = keys[i - 1]
        return key.number <= number || before === undefined || key.signature === null ? [] : [rotationOf(key, before)]
      })
    },
    isSignedBy: (number, text, signature, now) => {
      const key = all().find((one) => one.number === number && !isOver(one, now))
      return key !== undefined && isSignedBy(key.publicKey, text, signature)
    },
    list: all,
    rotate: (now, keepMs) => {
      const { privateKey } = generateKeyPairSync('ed25519')
      const next = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
      file.change((content) => {
        const keys = stored()
        const last = mustExist(keys.at(-1), 'the command key')
        const number = last.number + 1
        const createdAt = new Date(now).toISOString()
        const text = commandKeyRotationText({
          number,
          oldKey: last.publicKey,
          newKey: spkiOf(privateKey),
          createdAt,
        })
        const signature = sign(
          null,
          Buffer.from(text),
          privateKeyOf(mustExist(last.privateKey, 'the private command key')),
        ).toString('base64')
        const retiresAt = new Date(now + keepMs).toISOString()
        return {
          ...content,
          // Releases without rotations read this key.
          commandPrivateKey: next,
          commandKeys: [
            ...keys.slice(0, -1),
            { ...last, retiresAt, ...(keepMs <= 0 ? { privateKey: null } : {}) },
            { number, publicKey: spkiOf(privateKey), createdAt, signature, privateKey: next, retiresAt: null },
          ],
        }
      })
      return rotationOf(newest(), mustExist(all().at(-2), 'the command key before it'))
    },
    forgetRetired: (now) => {
      const due = all().filter((key) => key.privateKey !== null && isOver(key, now)).length
      if (due === 0) return 0
      file.change((content) => ({
        ...content,
        commandKeys: stored().map((key) => (isOver(key, now) ? { ...key, privateKey: null } : key)),
      }))
      return due
    },
  }
}
