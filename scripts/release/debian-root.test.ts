import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lockRoot } from './debian-root.ts'

const setUp = (lock?: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dir = join(folder, 'trixie')
  if (lock !== undefined) writeFileSync(`${dir}.lock`, lock)
  return dir
}

describe('the lock of a Debian system', () => {
  it('is held until the system exists, and then not taken again', () => {
    const dir = setUp()
    const unlock = lockRoot(dir)
    expect(existsSync(`${dir}.lock`)).toBe(true)
    mkdirSync(dir)
    unlock?.()
    expect(existsSync(`${dir}.lock`)).toBe(false)
    expect(lockRoot(dir)).toBeUndefined()
  })

  it('is taken from a process that has ended', () => {
    expect(lockRoot(setUp('4194305'))).toBeTypeOf('function')
  })

  it('is taken from an earlier run whose process ID is in use again', () => {
    const dir = setUp(`${process.pid}`)
    utimesSync(`${dir}.lock`, 0, 0)
    expect(lockRoot(dir)).toBeTypeOf('function')
  })
})
