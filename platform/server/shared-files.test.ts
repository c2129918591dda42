// Invariant: Downloads of a file share one descriptor.

import { mkdtempSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createSharedFiles } from './shared-files.ts'

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'portcullis-files-'))

const descriptorsOf = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  }).length

it('many readers of a file share one descriptor, which closes with the last of them', async () => {
  const path = join(temporaryFolder(), 'agent')
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
  writeFileSync(path, bytes)
  const files = createSharedFiles()
  const opened = await Promise.all(Array.from({ length: 50 }, () => files.read(path)))
  expect([descriptorsOf(path), opened[0]?.size]).toEqual([1, bytes.length])
  const [left, ...others] = opened
  left?.stream.destroy()
  for (const { stream } of others) expect((await buffer(stream)).equals(bytes)).toBe(true)
  await expect.poll(() => descriptorsOf(path)).toBe(0)
})

it('a patch replaces bytes also across two blocks, for its reader only', async () => {
  const path = join(temporaryFolder(), 'installer')
  const bytes = Buffer.alloc(200_000, 'a')
  writeFileSync(path, bytes)
  const files = createSharedFiles()
  const patches = [
    { offset: 10, bytes: Buffer.from('first') },
    { offset: 65_530, bytes: Buffer.from('over the border') },
  ]
  const [patched, plain] = await Promise.all([files.read(path, patches), files.read(path)])
  const wanted = Buffer.from(bytes)
  for (const { offset, bytes: value } of patches) value.copy(wanted, offset)
  expect((await buffer(patched.stream)).equals(wanted)).toBe(true)
  expect((await buffer(plain.stream)).equals(bytes)).toBe(true)
})

it('a missing file is an error, and a file that replaced another one is read anew', async () => {
  const path = join(temporaryFolder(), 'agent')
  const files = createSharedFiles()
  await expect(files.read(path)).rejects.toThrow('ENOENT')
  writeFileSync(path, 'old')
  const old = await files.read(path)
  writeFileSync(path, 'newer')
  expect(String(await buffer((await files.read(path)).stream))).toBe('newer')
  old.stream.destroy()
})
