import { createHash, type KeyObject, sign } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { type ReleaseKeyPair, releaseKeyFileOf } from '@portcullis/domain/testing'
import type { ReleaseKeySource } from '@portcullis/features/builds/server/index.ts'
import { packageProofText, type ReleaseKeyRotation } from '@portcullis/features/contract.ts'
import type { TestApp } from './app.ts'

/** Returns the release key of a server, as configured at start. */
export const configured = (key: ReleaseKeyPair, rotations: ReleaseKeyRotation[] = []): ReleaseKeySource => ({
  source: 'file',
  isInBuild: true,
  where: '/etc/portcullis/release-key.pub',
  file: releaseKeyFileOf(key, rotations),
})

export interface PackageOptions {
  version?: string
  architecture?: string
  executable?: Buffer
  header?: Record<string, unknown>
  /** Compressed executable, as stored in the file. */
  body?: Buffer
}

const signed = (text: string, key: KeyObject): string => sign(null, Buffer.from(text), key).toString('base64')

/** Returns a package file, valid by default. */
export const packageFile = (key: ReleaseKeyPair, options: PackageOptions = {}): Buffer => {
  const executable = options.executable ?? Buffer.from(`agent ${options.version ?? '1.0.0'}`)
  const build = {
    version: options.version ?? '1.0.0',
    architecture: options.architecture ?? 'x64',
    sha256: createHash('sha256').update(executable).digest('hex'),
    size: executable.length,
  }
  const header = {
    format: 'portcullis-agent-package',
    ...build,
    compression: 'zstd',
    signature: signed(packageProofText(build), key.privateKey),
    releaseKey: key.text,
    ...options.header,
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), options.body ?? zstdCompressSync(executable)])
}

/** Uploads a package file as the administrator, or with the given token. */
export const publish = async (t: TestApp, file: Buffer, token?: string, query = '') => {
  const boundary = 'portcullis-test-boundary'
  return t.request({
    method: 'POST',
    url: `/prime/webui/agents/packages${query}`,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      authorization: `Bearer ${token ?? (await t.signIn())}`,
    },
    payload: Buffer.concat([
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="agent.pkg"\r\ncontent-type: application/octet-stream\r\n\r\n`,
      ),
      file,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  })
}
