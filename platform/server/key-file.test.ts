import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createKeyFile, type KeyFile, openKeyFile } from './key-file.ts'

const content: KeyFile = { version: 1, root: 'root', commandPrivateKey: 'first' }
const real = fs.fsyncSync
let folder: string
let file: string
/** The key file at the last flush of its folder, which is the state after a power loss. */
let left: KeyFile | undefined

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'portcullis-key-file-'))
  file = join(folder, 'portcullis.key')
  left = undefined
  const { ino } = fs.statSync(folder)
  fs.fsyncSync = (fd) => {
    real(fd)
    if (fs.fstatSync(fd).ino === ino && fs.existsSync(file)) left = JSON.parse(fs.readFileSync(file, 'utf8'))
  }
  syncBuiltinESMExports()
})
afterEach(() => {
  fs.fsyncSync = real
  syncBuiltinESMExports()
  fs.rmSync(folder, { recursive: true })
})

it('the key file survives a power loss once it exists', () => {
  createKeyFile(file, content)
  expect(left).toEqual(content)
})

it('the key file of another server survives a power loss', () => {
  fs.writeFileSync(file, JSON.stringify(content))
  expect(createKeyFile(file, { ...content, root: 'other' })).toEqual(content)
  expect(left).toEqual(content)
})

it('a changed key file survives a power loss with its new content', () => {
  createKeyFile(file, content)
  openKeyFile(file).change((before) => ({ ...before, commandPrivateKey: 'second' }))
  expect(left?.commandPrivateKey).toBe('second')
})

it('a link in the place of the new key file is never followed', () => {
  createKeyFile(file, content)
  const target = join(folder, 'target')
  fs.writeFileSync(target, 'kept')
  fs.symlinkSync(target, `${file}.new`)
  openKeyFile(file).change((before) => ({ ...before, commandPrivateKey: 'second' }))
  expect(fs.readFileSync(target, 'utf8')).toBe('kept')
  expect(fs.lstatSync(file).isFile()).toBe(true)
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
})
