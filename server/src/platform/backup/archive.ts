/**
 * The form of a backup: one line of JSON in the clear (what it is, how it is encrypted), then a gzip stream, encrypted when
 * there is a passphrase. In it: for each table a line `@{json}`, its rows as COPY text, a line `\.`; at last `@{"end":true}`.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { type Duplex, PassThrough, Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Secret } from '../secret.ts'

/** First line of a file. */
export interface ArchiveHead {
  format: 'portcullis-backup'
  version: 1
  createdAt: string
  /** Version of the product that wrote it. */
  product: string
  schema: number
  /** The key file of the server is in it. */
  hasKeys: boolean
  /** Null: not encrypted. */
  encryption: { salt: string; nonce: string } | null
}

/** A table as the archive has it. */
export interface ArchiveTable {
  table: string
  columns: string[]
  /** Count and checksum of its rows in the snapshot, by the database. */
  rows: number
  checksum: string
}

/** Something of an archive, in order. */
export type ArchivePart =
  | { kind: 'keys'; content: string }
  /** Where identity columns stand, and the newest event: its partition has to be there. */
  | { kind: 'sequences'; values: Record<string, number>; lastEvent: number }
  | ({ kind: 'table' } & ArchiveTable)
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'tableEnd' }
  | { kind: 'end' }

export class ArchiveError extends Error {}

const notOpened = 'The passphrase is wrong, or the file was changed.'
const headLimit = 4_096
/** Of a line between two tables; the longest is that of the key file, of some kilobytes. */
const lineLimit = 1024 * 1024
const tagSize = 16
/** Some 100 ms and 64 MiB: a guess costs as much. */
const scrypt = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1024 * 1024 }
const keyOf = (passphrase: Secret, salt: Buffer): Buffer =>
  scryptSync(passphrase.reveal().normalize('NFC'), salt, 32, scrypt)

const terminator = Buffer.from('\\.\n')

async function* textOf(parts: AsyncIterable<ArchivePart>): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    if (part.kind === 'data') yield part.bytes
    else if (part.kind === 'tableEnd') yield terminator
    else yield Buffer.from(`@${JSON.stringify(part)}\n`)
  }
}

/** Encrypts what passes, with the tag at the end. */
const encrypting = (key: Buffer, nonce: Buffer, head: Buffer): Transform => {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(head)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done: TransformCallback) => done(null, cipher.update(chunk)),
    flush: (done) => done(null, Buffer.concat([cipher.final(), cipher.getAuthTag()])),
  })
}

/** Decrypts what passes; fails at the end when anything of it was changed. */
const decrypting = (key: Buffer, nonce: Buffer, head: Buffer): Transform => {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(head)
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
      const all = Buffer.concat([held, chunk])
      const usable = Math.max(0, all.length - tagSize)
      held = all.subarray(usable)
      done(null, decipher.update(all.subarray(0, usable)))
    },
    flush: (done) => {
      try {
        decipher.setAuthTag(held)
        done(null, decipher.final())
      } catch {
        done(new ArchiveError(notOpened))
      }
    },
  })
}

export interface ArchiveOptions {
  head: Omit<ArchiveHead, 'format' | 'version' | 'encryption'>
  passphrase: Secret | null
}

/** The bytes of an archive. */
export async function* writeArchive(
  parts: AsyncIterable<ArchivePart>,
  { head, passphrase }: ArchiveOptions,
): AsyncGenerator<Buffer> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const encryption = passphrase === null ? null : { salt: salt.toString('base64'), nonce: nonce.toString('base64') }
  const line = Buffer.from(`${JSON.stringify({ format: 'portcullis-backup', version: 1, ...head, encryption })}\n`)
  yield line
  const stages = passphrase === null ? [] : [encrypting(keyOf(passphrase, salt), nonce, line)]
  yield* through(textOf(parts), [createGzip({ level: 4 }), ...stages])
}

/** What comes out behind the stages; an error of any of them ends all. */
async function* through(source: AsyncIterable<Buffer>, stages: readonly Duplex[]): AsyncGenerator<Buffer> {
  const output = new PassThrough()
  const failed = pipeline([Readable.from(source), ...stages, output]).then(
    () => null,
    (error: unknown) => {
      output.destroy(error as Error)
      return error
    },
  )
  yield* output as AsyncIterable<Buffer>
  const error = await failed
  if (error !== null) throw error
}

const splitHead = async (source: AsyncIterator<Buffer>): Promise<{ line: Buffer; rest: Buffer }> => {
  let held: Buffer = Buffer.alloc(0)
  for (;;) {
    const at = held.indexOf(10)
    if (at >= 0) return { line: held.subarray(0, at + 1), rest: held.subarray(at + 1) }
    const { value, done } = await source.next()
    if (done === true || held.length > headLimit) throw new ArchiveError('This is no backup of Portcullis.')
    held = Buffer.concat([held, value as Buffer])
  }
}

const readHead = (line: Buffer): ArchiveHead => {
  try {
    const head = JSON.parse(line.toString('utf8')) as ArchiveHead
    if (head.format === 'portcullis-backup' && head.version === 1) return head
  } catch {}
  throw new ArchiveError('This is no backup of Portcullis, or one of a newer form.')
}

/** An archive that was opened; nothing of it is to be trusted before `parts` has ended. */
export interface OpenArchive {
  head: ArchiveHead
  parts: AsyncGenerator<ArchivePart>
}

/** Opens an archive. @param passphrase null: none was given */
export const readArchive = async (source: AsyncIterable<Buffer>, passphrase: Secret | null): Promise<OpenArchive> => {
  const iterator = source[Symbol.asyncIterator]()
  const { line, rest } = await splitHead(iterator)
  const head = readHead(line)
  if (head.encryption !== null && passphrase === null)
    throw new ArchiveError('This backup is encrypted: give its passphrase.')
  // Whoever can put another file in its place could have keys of his own restored.
  if (head.encryption === null && passphrase !== null)
    throw new ArchiveError(
      'A passphrase was given, but this file is not encrypted: it is not the backup that was made with it.',
    )
  async function* remaining(): AsyncGenerator<Buffer> {
    yield rest
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  }
  const stages: Duplex[] = []
  if (head.encryption !== null && passphrase !== null) {
    const [salt, nonce] = [head.encryption.salt, head.encryption.nonce].map((text) => Buffer.from(text, 'base64'))
    stages.push(decrypting(keyOf(passphrase, salt as Buffer), nonce as Buffer, line))
  }
  const bytes = through(remaining(), [...stages, createGunzip()])
  return { head, parts: partsOf(bytes, head.encryption !== null) }
}

/** Lines of JSON and the rows between them. */
async function* partsOf(source: AsyncIterable<Buffer>, isEncrypted: boolean): AsyncGenerator<ArchivePart> {
  let held: Buffer = Buffer.alloc(0)
  let isInTable = false
  let isEnded = false
  try {
    for await (const chunk of source) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      for (;;) {
        if (isInTable) {
          // Rows end where a line is the terminator; the part behind the last line end may be the start of one.
          const at = held.subarray(0, 3).equals(terminator) ? 0 : held.indexOf('\n\\.\n')
          if (at < 0) {
            const whole = held.lastIndexOf(10) + 1
            if (whole > 0) yield { kind: 'data', bytes: held.subarray(0, whole) }
            held = held.subarray(whole)
            break
          }
          const end = at === 0 && held.subarray(0, 3).equals(terminator) ? 0 : at + 1
          if (end > 0) yield { kind: 'data', bytes: held.subarray(0, end) }
          yield { kind: 'tableEnd' }
          held = held.subarray(end + terminator.length)
          isInTable = false
        } else {
          const at = held.indexOf(10)
          if (at < 0 && held.length > lineLimit) throw new ArchiveError('The backup has a line without an end.')
          if (at < 0) break
          const part = JSON.parse(held.toString('utf8', 1, at)) as ArchivePart
          held = held.subarray(at + 1)
          isInTable = part.kind === 'table'
          isEnded ||= part.kind === 'end'
          yield part
        }
      }
    }
  } catch (error) {
    if (error instanceof ArchiveError) throw error
    // Seen before the tag at the end: another key makes bytes that are no gzip stream.
    if (isEncrypted) throw new ArchiveError(notOpened)
    throw new ArchiveError(`The backup cannot be read: ${(error as Error).message}.`)
  }
  if (!isEnded) throw new ArchiveError('The backup ends too early.')
}
