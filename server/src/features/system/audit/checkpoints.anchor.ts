import { createHmac, createPublicKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { checkpointKeyId } from '@portcullis/domain'
import type { Secret } from '#platform/secret.ts'

/** The trail or its checkpoints are not as this server wrote them: nothing is signed until a person has looked. */
export class TrailFault extends Error {}

/** A file next to the key file is temporarily unreadable. This does not mean that the trail was changed. */
export class AnchorUnreadable extends Error {}

/** The newest checkpoint that this server knows of, kept where the role of the database does not reach. */
export interface Anchor {
  /** 0: there was none yet, and the first may be signed. */
  number: number
  auditTrailID: number
  /** SHA-256 of the line of the checkpoint. */
  hash: string
}

export type CheckpointAnchor = ReturnType<typeof createCheckpointAnchor>

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'
/** Errors of the process or the machine: the file may be unchanged. */
const passing: ReadonlySet<string> = new Set([
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
  passing.has(code)
    ? new AnchorUnreadable(`${what} is temporarily unreadable (${code}).`)
    : new TrailFault(`${what} cannot be read (${code}).`)

const pem = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

/** Public keys of former key files; a person puts them beside the present one. */
export const formerKeysFile = (keyFile: string): string => `${keyFile}.former.pem`

export const publicKeysOf = (text: string): [string, KeyObject][] =>
  [...text.matchAll(pem)].map(([one]) => {
    const key = createPublicKey(one)
    return [checkpointKeyId(key), key]
  })

/** Files beside the key file: the anchor, and who signed before. Whoever may write there has the key file as well. */
export const createCheckpointAnchor = (keyFile: string, key: Secret<Buffer>) => {
  const file = `${keyFile}.audit-anchor`
  /** For as long as the process runs, when the file cannot be written. */
  let kept: Anchor | null = null

  const macOf = ({ number, auditTrailID, hash }: Anchor): Buffer =>
    createHmac('sha256', key.reveal()).update(JSON.stringify({ number, auditTrailID, hash })).digest()

  return {
    file,

    /** Null: there is none. */
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
        // Neither is what has another form.
      }
      throw new TrailFault(`The anchor ${file} was not written with this key file.`)
    },

    /** Whole or not at all. Answers why it could not be written; empty when it was. */
    write: async (anchor: Anchor): Promise<string> => {
      kept = anchor
      try {
        // Servers that share the folder write each a file of their own.
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

    /** Keys that a checkpoint may be signed by: the own one and those of former key files. */
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
