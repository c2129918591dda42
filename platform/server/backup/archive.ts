/**
 * The format of a backup: one line of plain JSON that describes the content and encryption, then a gzip stream. The
 * stream is encrypted if there is a passphrase. The stream holds for each table a line `@{json}`, its rows as COPY text
 * and a line `\.`, and finally `@{"end":true}`.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { type Duplex, PassThrough, Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Secret } from '../secret.ts'

/** The first line of a file. */
export interface ArchiveHead {
  format: 'portcullis-backup'
  version: 1
  createdAt: string
  /** Product version that wrote it. */
  product: string
  schema: number
  /** Whether it contains the server's key file. */
  hasKeys: boolean
  /** Null: not encrypted. */
  encryption: { salt: string; nonce: string } | null
}

/** A table in the archive. */
export interface ArchiveTable {
  table: string
  columns: string[]
  /** Count and checksum of the rows in the snapshot, computed by the database. */
  rows: number
  checksum: string
}

/** A part of an archive, in order. */
export type ArchivePart =
  | { kind: 'keys'; content: string }
  /** Positions of identity columns, and the newest event, whose partition must exist. */
  | { kind: 'sequences'; values: Record<string, number>; lastEvent: number }
  | ({ kind: 'table' } & ArchiveTable)
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'tableEnd' }
  | { kind: 'end' }

export class ArchiveError extends Error {}

const notOpened = 'The passphrase is incorrect, or the file was changed.'
const headLimit = 4_096
/** Longest line between two tables. The key file is the longest, with a few kilobytes. */
const lineLimit = 1024 * 1024
const tagSize = 16
/** About 100 ms and 64 MiB, also for each guess. */
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

/** Encrypts a stream and appends the tag. */
const encrypting = (key: Buffer, nonce: Buffer, head: Buffer): Transform => {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(head)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done: TransformCallback) => done(null, cipher.update(chunk)),
    flush: (done) => done(null, Buffer.concat([cipher.final(), cipher.getAuthTag()])),
  })
}

/** Decrypts a stream. Fails at the end if any byte was changed. */
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

/** Yields the bytes of an archive. */
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

/** Yields the output of the stages. An error in any stage ends them all. */
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
    if (done === true || held.length > headLimit) throw new ArchiveError('This file is not a Portcullis backup.')
    held = Buffer.concat([held, value as Buffer])
  }
}

const readHead = (line: Buffer): ArchiveHead => {
  try {
    const head = JSON.parse(line.toString('utf8')) as ArchiveHead
    if (head.format === 'portcullis-backup' && head.version === 1) return head
  } catch {}
  throw new ArchiveError('This file is not a Portcullis backup, or it has a newer format.')
}

/** An opened archive. Nothing in it is trusted before `parts` has ended. */
export interface OpenArchive {
  head: ArchiveHead
  parts: AsyncGenerator<ArchivePart>
}

/** Opens an archive. @param passphrase null: none given */
export const readArchive = async (source: AsyncIterable<Buffer>, passphrase: Secret | null): Promise<OpenArchive> => {
  const iterator = source[Symbol.asyncIterator]()
  const { line, rest } = await splitHead(iterator)
  const head = readHead(line)
  if (head.encryption !== null && passphrase === null)
    throw new ArchiveError('This backup is encrypted. Enter its passphrase.')
  // An attacker who can replace the file could otherwise restore their own keys.
  if (head.encryption === null && passphrase !== null)
    throw new ArchiveError(
      'A passphrase was given, but this file is not encrypted, so it is not the backup made with that passphrase.',
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

/** Parses the lines of JSON and the rows between them. */
async function* partsOf(source: AsyncIterable<Buffer>, isEncrypted: boolean): AsyncGenerator<ArchivePart> {
  let held: Buffer = Buffer.alloc(0)
  let isInTable = false
  let isEnded = false
  try {
    for await (const chunk of source) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      for (;;) {
        if (isInTable) {
          // A line with the terminator ends the rows. The bytes after the last line end may be the start of one.
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
          if (at < 0 && held.length > lineLimit) throw new ArchiveError('The backup has a line that is too long.')
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
    // Checked before the tag at the end: a wrong key yields bytes that are not a gzip stream.
    if (isEncrypted) throw new ArchiveError(notOpened)
    throw new ArchiveError(`The backup cannot be read: ${(error as Error).message}.`)
  }
  if (!isEnded) throw new ArchiveError('The backup is incomplete. Copy the file again.')
}
