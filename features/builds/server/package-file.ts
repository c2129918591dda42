import { createHash, type Hash, randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdDecompress } from 'node:zlib'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { Compile } from 'typebox/compile'
import { PackageHeader, packageFileLimits } from '#features/contract.ts'

const check = Compile(PackageHeader)

/** A completely read and verified package. */
export interface ReadPackage {
  header: PackageHeader
  /** The compressed executable. The file has no name and is deleted when it is closed. */
  file: FileHandle
}

export interface PackageSource {
  chunks: AsyncIterable<Buffer>
  /** Returns whether the upload exceeds the limit. */
  isCut(): boolean
}

const damaged = (detail: string): AppError => new AppError('package_damaged', { detail })

const parseHeader = (line: Buffer): PackageHeader => {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch {
    throw invalid('body.file', 'is not an agent package: it does not begin with a line of JSON')
  }
  if (!check.Check(value)) {
    const [fault] = check.Errors(value)
    throw invalid(
      'body.file',
      `is not an agent package: its first line${fault?.instancePath.replaceAll('/', ' ') ?? ''} ${fault?.message ?? 'is not valid'}`,
    )
  }
  return value
}

/** Reads the first line; `rest` contains the remaining bytes. */
const splitHeader = async (chunks: AsyncIterable<Buffer>) => {
  const iterator = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let end = -1
  while (end < 0 && head.length <= packageFileLimits.headerBytes) {
    const next = await iterator.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
    end = head.indexOf(10)
  }
  if (end < 0 || end > packageFileLimits.headerBytes)
    throw invalid('body.file', 'is not an agent package: it does not begin with a line of JSON')
  async function* rest(): AsyncGenerator<Buffer> {
    if (end + 1 < head.length) yield head.subarray(end + 1)
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  }
  return { header: parseHeader(head.subarray(0, end)), rest }
}

/** Opens a file without a name, so that nothing remains if this process crashes. */
const openNameless = async (folder: string): Promise<FileHandle> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.upload-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Creates a decompressor that uses at most 8 MiB, whatever the stream requests. */
export const decompressor = () =>
  createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: packageFileLimits.windowLog } })

/** Counts and hashes decompressed bytes; stops at the first byte beyond the signed size. */
const digestUpTo =
  (size: number, hash: Hash, seen: { bytes: number }) =>
  async (plain: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of plain) {
      seen.bytes += chunk.length
      if (seen.bytes > size) throw damaged(`The package contains more than the signed size of ${size} bytes.`)
      hash.update(chunk)
    }
  }

const asDamage = (error: unknown): unknown => {
  const e = error as { code?: unknown; message?: unknown } | null
  if (/end of multipart data/i.test(String(e?.message)))
    return invalid('body', 'ended before its last part was complete')
  return /^(ZSTD_|Z_|ERR_ZSTD)/.test(String(e?.code))
    ? damaged('The executable in the package cannot be decompressed.')
    : error
}

const readContent = async (
  { header, rest }: Awaited<ReturnType<typeof splitHeader>>,
  isCut: () => boolean,
  file: FileHandle,
): Promise<void> => {
  async function* kept(): AsyncGenerator<Buffer> {
    for await (const chunk of rest()) {
      await file.write(chunk)
      yield chunk
    }
  }
  const hash = createHash('sha256')
  const seen = { bytes: 0 }
  try {
    await pipeline(kept, decompressor(), digestUpTo(header.size, hash, seen))
  } catch (error) {
    if (!isCut()) throw error
  }
  if (isCut()) throw new AppError('payload_too_large', { limit: packageFileLimits.fileBytes })
  if (seen.bytes !== header.size)
    throw damaged(`The package contains ${seen.bytes} bytes, but the signed size is ${header.size}.`)
  if (hash.digest('hex') !== header.sha256)
    throw damaged('The digest of the executable does not match the signed digest.')
}

/**
 * Reads a package. It first reads the header, which `accept` may refuse before anything else is read, then the
 * executable, which must have the digest and size of the header. Stores only compressed bytes in a file; memory stays
 * at a few megabytes.
 */
export const readPackage = async (
  { chunks, isCut }: PackageSource,
  folder: string,
  accept: (header: PackageHeader) => Promise<void>,
): Promise<ReadPackage> => {
  let file: FileHandle | undefined
  try {
    const split = await splitHeader(chunks)
    await accept(split.header)
    file = await openNameless(folder)
    await readContent(split, isCut, file)
    return { header: split.header, file }
  } catch (error) {
    await file?.close()
    throw asDamage(error)
  }
}
