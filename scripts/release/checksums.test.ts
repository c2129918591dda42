import { spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { expect, it, onTestFinished } from 'vitest'
import { Refusal, ROOT } from '../bootstrap/say.mjs'
import { readKey, signDetached, writeChecksums } from './checksums.ts'

const whyNot =
  spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.startsWith('OpenSSL 3') === true
    ? null
    : 'OpenSSL 3 is missing'

/** Creates a release of three files with a signature. */
const release = () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-checksums-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = (name: string) => join(dir, name)
  const keys = generateKeyPairSync('ed25519')
  writeFileSync(path('key'), keys.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(path('portcullis-release.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }))
  const files = ['b.tar.xz', 'a.tar.xz', 'RELEASE-NOTES.md'].map(path)
  for (const file of files) writeFileSync(file, `content of ${file}`)
  const sums = writeChecksums(dir, files)
  signDetached(sums, readKey(path('key')))
  return { dir, path, sums }
}

/** The commands of the guide, which are indented blocks in its section. */
const commands = (): string[] => {
  const section = readFileSync(join(ROOT, 'docs/guide/install.md'), 'utf8').split('## Verify what you downloaded')[1]
  return (section?.split(/^## /m)[0] ?? '')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.trim())
}

const inShell = (cwd: string, command: string) => spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })

it('lists files by name, as sha256sum does', () => {
  const { dir, sums } = release()
  expect(readFileSync(sums, 'utf8').match(/(?<= {2}).*/g)).toEqual(['RELEASE-NOTES.md', 'a.tar.xz', 'b.tar.xz'])
  expect(inShell(dir, 'sha256sum --check --strict SHA256SUMS').status).toBe(0)
})

it('refuses keys of other kinds, and files that are not keys', () => {
  const { path } = release()
  writeFileSync(
    path('rsa'),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }),
  )
  expect(() => readKey(path('rsa'))).toThrow('not an Ed25519 private key')
  expect(() => readKey(path('SHA256SUMS'))).toThrow(Refusal)
  expect(() => readKey(path('missing'))).toThrow(Refusal)
})

it(
  'is verified by the commands of the guide, which refuse a damaged file and a wrong signature',
  unless(whyNot),
  () => {
    const { dir, path } = release()
    const [signature = '', digests = '', ...more] = commands()
    expect(signature).toMatch(/^openssl pkeyutl -verify /)
    expect(digests).toMatch(/^sha256sum /)
    expect(more).toEqual([])
    expect(inShell(dir, signature)).toMatchObject({ status: 0, stdout: expect.stringContaining('Successfully') })
    expect(inShell(dir, digests)).toMatchObject({ status: 0, stdout: expect.stringContaining('a.tar.xz: OK') })
    // Not all files were downloaded.
    rmSync(path('b.tar.xz'))
    expect(inShell(dir, digests).status).toBe(0)

    writeFileSync(path('a.tar.xz'), 'damaged')
    expect(inShell(dir, digests)).toMatchObject({ status: 1, stdout: expect.stringContaining('a.tar.xz: FAILED') })

    const sums = readFileSync(path('SHA256SUMS'))
    writeFileSync(path('SHA256SUMS'), `${sums}${'0'.repeat(64)}  c\n`)
    expect(inShell(dir, signature)).toMatchObject({ status: 1, stdout: expect.stringContaining('Failure') })
    writeFileSync(path('SHA256SUMS'), sums)
    const other = createPublicKey(
      createPrivateKey(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
    )
    writeFileSync(path('portcullis-release.pub'), other.export({ type: 'spki', format: 'pem' }))
    expect(inShell(dir, signature).status).toBe(1)
  },
)
