import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeMemoryDir } from './temporary-dir.ts'

const plenty = () => 64 * 1024 ** 3
let memory = ''

beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), 'portcullis-memory-'))
})
afterEach(() => rmSync(memory, { recursive: true, force: true }))

it.runIf(process.platform === 'linux')('creates a directory that other users may traverse', () => {
  const dir = makeMemoryDir(memory, plenty)
  expect(dir).toBe(join(memory, `pt-${process.pid}`))
  expect(statSync(dir ?? '').mode & 0o777).toBe(0o755)
})

it('returns null if memory is short or unavailable', () => {
  expect(makeMemoryDir(memory, () => 1024 ** 3)).toBeNull()
  expect(makeMemoryDir(join(memory, 'absent'), plenty)).toBeNull()
})

it.runIf(process.platform === 'linux')('removes directories of killed runs, but not those of running ones', () => {
  const dirs = ['pt-4194999', `pt-${process.ppid}`, 'pt-of-others'].map((name) => join(memory, name))
  for (const dir of dirs) mkdirSync(join(dir, 'inner'), { recursive: true })
  makeMemoryDir(memory, plenty)
  expect(dirs.map((dir) => existsSync(dir))).toEqual([false, true, true])
})
