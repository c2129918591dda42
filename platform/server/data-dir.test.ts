import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { codeCacheOf, dataDirOf, isOwnFolder } from './data-dir.ts'

const made: string[] = []
const folder = (mode: number): string => {
  const dir = mkdtempSync(join(tmpdir(), 'own-folder-'))
  made.push(dir)
  chmodSync(dir, mode)
  return dir
}
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true })
})

test('a folder is private while nobody else may write to it', () => {
  for (const mode of [0o700, 0o750, 0o755]) expect(isOwnFolder(folder(mode)), mode.toString(8)).toBe(true)
  for (const mode of [0o770, 0o775, 0o707, 0o777, 0o1777])
    expect(isOwnFolder(folder(mode)), mode.toString(8)).toBe(false)
})

test('a missing folder, a file, and a folder of another account are not private', () => {
  const dir = folder(0o700)
  expect(isOwnFolder(join(dir, 'absent'))).toBe(false)
  writeFileSync(join(dir, 'file'), '')
  expect(isOwnFolder(join(dir, 'file'))).toBe(false)
  expect(isOwnFolder(process.getuid?.() === 0 ? '/tmp' : '/')).toBe(false)
})

test('compiled code is stored where nobody else can write, whatever the umask', () => {
  const dir = folder(0o711)
  expect(codeCacheOf(join(dir, 'absent'))).toBe(null)
  expect(codeCacheOf(folder(0o777))).toBe(null)
  const cache = join(dir, 'code-cache')
  mkdirSync(cache)
  chmodSync(cache, 0o777)
  writeFileSync(join(cache, 'planted'), '')
  expect(codeCacheOf(dir)).toBe(cache)
  expect([(statSync(cache).mode & 0o777).toString(8), readdirSync(cache)]).toEqual(['700', []])
  writeFileSync(join(cache, 'own'), '')
  expect([codeCacheOf(dir), readdirSync(cache)]).toEqual([cache, ['own']])
})

test('the data directory is the configured one, or the default', () => {
  expect(dataDirOf({ PORTCULLIS_DATA_DIR: '/srv/p' }, true)).toBe('/srv/p')
  expect(dataDirOf({}, true)).toBe('/var/lib/portcullis')
  expect(dataDirOf({}, false)).toMatch(/\.local\/share\/portcullis$/)
})
