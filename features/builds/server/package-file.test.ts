import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { formatReleaseKeyFile } from '@portcullis/domain'
import { releaseKeyFileOf, releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import type { AppError } from '@portcullis/platform/server/app-error.ts'
import { type PackageOptions, packageFile } from '@portcullis/server/test/packages.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readPackage } from './package-file.ts'
import { hostKeyState, loadReleaseKey, trustedKey } from './release-key.ts'

const [k1, k2, k3, foreign] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
const temporaryDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-package-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function* chunksOf(file: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size)
}
const read = async (file: Buffer, { size = 65_536, isCut = false, accept = async () => {} } = {}) => {
  const folder = join(temporaryDir(), 'new')
  const result = await readPackage({ chunks: chunksOf(file, size), isCut: () => isCut }, folder, accept).catch(
    (error: unknown) => error as AppError,
  )
  return { result, left: existsSync(folder) ? readdirSync(folder) : [] }
}
const refusal = async (file: Buffer, options: Parameters<typeof read>[1] = {}) => {
  const { result, left } = await read(file, options)
  expect(left).toEqual([])
  const { code, errors, message } = result as AppError
  return [code, errors[0]?.message ?? message]
}
const noPackage = 'is not an agent package: it does not begin with a line of JSON'

describe('a package', () => {
  const executable = randomBytes(10_000)

  it.each([1, 7, 65_536])(
    'is read from chunks of %i bytes, and its compressed bytes are kept without a name',
    async (size) => {
      const file = packageFile(k1, { executable })
      const { result, left } = await read(file, { size })
      if (!('file' in result)) return expect.unreachable(JSON.stringify(result))
      expect(result.header).toMatchObject({ version: '1.0.0', size: 10_000, releaseKey: k1.text })
      const compressed = file.subarray(file.indexOf(10) + 1)
      expect(await result.file.read(Buffer.alloc(compressed.length), 0, compressed.length, 0)).toMatchObject({
        buffer: compressed,
      })
      expect((await result.file.stat()).mode & 0o777).toBe(0o600)
      await result.file.close()
      expect(left).toEqual([])
    },
  )

  it('is refused by its header before anything else is read', async () => {
    const seen: string[] = []
    async function* chunks() {
      yield packageFile(k1, { body: Buffer.alloc(0) })
      seen.push('more')
      yield Buffer.alloc(1)
    }
    const accept = () => Promise.reject(new Error('no'))
    const folder = join(temporaryDir(), 'new')
    await expect(readPackage({ chunks: chunks(), isCut: () => false }, folder, accept)).rejects.toThrow('no')
    expect([seen, existsSync(folder)]).toEqual([[], false])
  })

  it.each<[string, Buffer]>([
    ['an empty file', Buffer.alloc(0)],
    ['a file without a line end', packageFile(k1).subarray(0, 100)],
    ['a line that is too long', Buffer.from(`${' '.repeat(4_097)}\n`)],
    ['a line that never ends', Buffer.alloc(100_000, ' ')],
    ['a line that is not JSON', Buffer.from('agent\n')],
    ['a line that is not UTF-8', Buffer.concat([Buffer.from('"'), Buffer.from([0xff]), Buffer.from('"\n')])],
  ])('is not %s', async (_, file) => {
    expect(await refusal(file)).toEqual(['validation_failed', noPackage])
  })

  it('may have a first line of 4,096 bytes', async () => {
    const file = packageFile(k1)
    const end = file.indexOf(10)
    const padded = (length: number) =>
      Buffer.concat([Buffer.alloc(length - end, ' '), file.subarray(0, end), file.subarray(end)])
    const { result } = await read(padded(4_096))
    expect(result).toHaveProperty('header')
    if ('file' in result) await result.file.close()
    expect(await refusal(padded(4_097))).toEqual(['validation_failed', noPackage])
  })

  it.each<[string, PackageOptions, string]>([
    ['no format', { header: { format: undefined } }, 'its first line must have required properties format'],
    [
      'another compression',
      { header: { compression: 'gzip' } },
      'its first line compression must be equal to constant',
    ],
  ])('with %s in its first line is not a package', async (_, options, reason) => {
    expect(await refusal(packageFile(k1, options))).toEqual(['validation_failed', `is not an agent package: ${reason}`])
  })

  it.each<[string, PackageOptions, string]>([
    [
      'with more bytes than its size',
      { executable, body: zstdCompressSync(Buffer.concat([executable, Buffer.alloc(1)])) },
      'The package contains more than the signed size of 10000 bytes.',
    ],
    [
      'with fewer bytes than its size',
      { executable, body: zstdCompressSync(executable.subarray(1)) },
      'The package contains 9999 bytes, but the signed size is 10000.',
    ],
    [
      'with other bytes',
      { executable, body: zstdCompressSync(randomBytes(10_000)) },
      'The digest of the executable does not match the signed digest.',
    ],
    [
      'that is not compressed',
      { executable, body: executable },
      'The executable in the package cannot be decompressed.',
    ],
    [
      'that is cut off',
      { executable, body: zstdCompressSync(executable).subarray(0, 5_000) },
      'The executable in the package cannot be decompressed.',
    ],
  ])('%s is damaged', async (_, options, detail) => {
    expect(await refusal(packageFile(k1, options))).toEqual(['package_damaged', detail])
  })

  it('above the limit of a file is refused as too large, whatever it contains', async () => {
    for (const options of [{ executable }, { executable, body: executable }])
      expect((await refusal(packageFile(k1, options), { isCut: true }))[0]).toBe('payload_too_large')
  })

  it('of an upload that broke off is refused as such', async () => {
    async function* chunks() {
      yield packageFile(k1, { executable }).subarray(0, 2_000)
      throw new Error('Unexpected end of multipart data')
    }
    const reading = readPackage({ chunks: chunks(), isCut: () => false }, temporaryDir(), async () => {})
    await expect(reading).rejects.toMatchObject({
      errors: [{ field: 'body', message: 'ended before its last part was complete' }],
    })
  })

  it('that needs more than 8 MiB to decompress is damaged', async () => {
    const large = randomBytes(9 * 1024 * 1024)
    const body = zstdCompressSync(large, { params: { [constants.ZSTD_c_windowLog]: 24 } })
    expect((await refusal(packageFile(k1, { executable: large, body })))[0]).toBe('package_damaged')
  })
})

describe('the release key of a server', () => {
  const toK2 = rotationOf(k1, k2, 1)
  const toK3 = rotationOf(k2, k3, 2)
  const from = (rotations = [toK2, toK3]) => ({
    source: 'file' as const,
    where: '/key',
    isInBuild: true,
    file: releaseKeyFileOf(k1, rotations),
  })

  it('is the newest one, and names the earlier ones', () => {
    expect(trustedKey(from())).toEqual({
      ...{ releaseKey: k3.text, where: '/key', rotations: [toK2, toK3] },
      view: {
        ...{ fingerprint: k3.fingerprint, source: 'file', isInBuild: true, sequence: 2 },
        ...{ rotatedAt: toK3.rotatedAt, earlier: [k2.fingerprint, k1.fingerprint] },
      },
    })
    expect(trustedKey(from([])).view).toMatchObject({ sequence: 0, rotatedAt: null, earlier: [] })
  })

  it('is compared with what hosts report', () => {
    const { view } = trustedKey(from())
    const states = ['none', 'unreported', ...[k3, k2, k1, foreign].map(({ fingerprint }) => fingerprint.slice(0, 16))]
    expect(states.map((reported) => hostKeyState(reported, view))).toEqual([
      ...['None', 'Unreported', 'Current', 'Earlier', 'Earlier', 'Foreign'],
    ])
    expect(states.map((reported) => hostKeyState(reported, null)).slice(2, 4)).toEqual(['Foreign', 'Foreign'])
  })

  it('is read from the named file, or else from the build of the agent', () => {
    const dir = temporaryDir()
    const write = (name: string, text: string) => {
      writeFileSync(join(dir, name), text)
      return join(dir, name)
    }
    const build = write('build.json', JSON.stringify({ releaseKey: releaseKeyFileOf(k1, [toK2]) }))
    const own = write('own.pub', formatReleaseKeyFile(releaseKeyFileOf(k1, [toK2])))
    const next = write('next.pub', formatReleaseKeyFile(releaseKeyFileOf(k1, [toK2, toK3])))
    const missing = join(dir, 'missing')
    expect(loadReleaseKey(null, build)).toEqual({
      ...{ source: 'build', where: 'the agent build of this server', isInBuild: true },
      file: releaseKeyFileOf(k1, [toK2]),
    })
    expect(loadReleaseKey(own, build)).toEqual({
      ...{ source: 'file', where: own, isInBuild: true, file: releaseKeyFileOf(k1, [toK2]) },
    })
    expect(loadReleaseKey(next, build)?.isInBuild).toBe(false)
    expect(loadReleaseKey(own, missing)?.isInBuild).toBe(false)
    for (const none of ['{}', '{"releaseKey":null}', 'no JSON'])
      expect(loadReleaseKey(null, write('none.json', none))).toBeNull()
    expect(loadReleaseKey(null, missing)).toBeNull()
    expect(() => loadReleaseKey(missing, build)).toThrow(
      `PORTCULLIS_RELEASE_KEY_FILE names ${missing}, which cannot be used. ENOENT`,
    )
    const damaged = write('damaged.pub', '{}')
    expect(() => loadReleaseKey(damaged, build)).toThrow(
      `PORTCULLIS_RELEASE_KEY_FILE names ${damaged}, which cannot be used. It is not a public release key file`,
    )
  })
})
