import { createHmac, createPublicKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { checkpointKeyId } from '@portcullis/domain'
import type { Secret } from '@portcullis/platform/server/secret.ts'

/** The trail or its checkpoints were changed. The server signs nothing until a person has checked them. */
export class TrailFault extends Error {}

/** A file next to the key file is temporarily unreadable. This does not mean that the trail was changed. */
export class AnchorUnreadable extends Error {}

/** The newest checkpoint that this server knows, stored where database users have no access. */
export interface Anchor {
  /** 0: no checkpoint exists yet, and the first may be signed. */
  number: number
  auditTrailID: number
  /** SHA-256 of the checkpoint's line. */
  hash: string
}

export type CheckpointAnchor = ReturnType<typeof createCheckpointAnchor>

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'
/** Errors of the process or the machine. The file itself may be unchanged. */
const transient: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'ENOMEM',
  'EAGAIN',
  'EBUSY',
  'ETIMEDOUT',
  'ESTALE',
])

const unreadable = (what: string, code: string): Error =>
  transient.has(code)
    ? new AnchorUnreadable(`${what} is temporarily unreadable (${code}).`)
    : new TrailFault(`${what} cannot be read (${code}).`)

const pem = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

/** Returns the file with the public keys of former key files. A person stores it next to the current key file. */
export const formerKeysFile = (keyFile: string): string => `${keyFile}.former.pem`

export const publicKeysOf = (text: string): [string, KeyObject][] =>
  [...text.matchAll(pem)].map(([one]) => {
    const key = createPublicKey(one)
    return [checkpointKeyId(key), key]
  })

/**
 * Reads and writes files next to the key file: the anchor and the former keys. Write access there implies the key file.
 */
export const createCheckpointAnchor = (keyFile: string, key: Secret<Buffer>) => {
  const file = `${keyFile}.audit-anchor`
  /** Copy for the lifetime of the process, in case the file cannot be written. */
  let kept: Anchor | null = null

  const macOf = ({ number, auditTrailID, hash }: Anchor): Buffer =>
    createHmac('sha256', key.reveal()).update(JSON.stringify({ number, auditTrailID, hash })).digest()

  return {
    file,

    /** Returns the anchor. Null if it does not exist. */
    read: async (): Promise<Anchor | null> => {
      let text: string
      try {
        text = await readFile(file, 'utf8')
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return kept
        throw unreadable(`The anchor ${file}`, codeOf(error))
      }
      try {
        const { mac, number, auditTrailID, hash } = JSON.parse(text) as Anchor & { mac: string }
        const anchor = { number, auditTrailID, hash }
        if (timingSafeEqual(Buffer.from(mac, 'hex'), macOf(anchor))) return anchor
      } catch {
        // Malformed files are refused below.
      }
      throw new TrailFault(`The anchor ${file} was not written with this key file.`)
    },

    /** Replaces the file atomically. Returns why it could not be written, or an empty string. */
    write: async (anchor: Anchor): Promise<string> => {
      kept = anchor
      try {
        // Servers that share the directory each write their own draft.
        const draft = `${file}.${process.pid}.new`
        const handle = await open(draft, 'w', 0o600)
        await handle
          .writeFile(`${JSON.stringify({ ...anchor, mac: macOf(anchor).toString('hex') })}\n`)
          .then(() => handle.sync())
          .finally(() => handle.close())
        await rename(draft, file)
        return ''
      } catch (error) {
        return `The anchor ${file} cannot be written (${codeOf(error)}).`
      }
    },

    /** Returns the keys that may sign a checkpoint: the current one and those of former key files. */
    keys: async (own: KeyObject): Promise<Map<string, KeyObject>> => {
      const keys = new Map([[checkpointKeyId(own), own]])
      const former = formerKeysFile(keyFile)
      try {
        for (const [id, one] of publicKeysOf(await readFile(former, 'utf8'))) keys.set(id, one)
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw unreadable(former, codeOf(error))
      }
      return keys
    },
  }
}
