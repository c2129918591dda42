import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNextIdentity } from '../src/next-identity.ts'
import { temporaryDir } from './harness.ts'

const FILES = ['key.pem', 'ca.pem', 'identity.json']

const setUp = () => {
  const dir = temporaryDir()
  for (const name of FILES) writeFileSync(join(dir, name), `old ${name}`)
  const next = createNextIdentity({ dir })
  const content = () =>
    FILES.map((name) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : null))
  return { dir, next, content }
}

describe('the next identity of a host', () => {
  it('leaves the old one until it is complete', () => {
    const { dir, next, content } = setUp()
    const state = next.open('token')
    writeFileSync(join(state.dir, 'key.pem'), 'new key.pem')
    state.savePinnedCa('new ca.pem')
    next.adopt()
    expect(content()).toEqual(FILES.map((name) => `old ${name}`))
    writeFileSync(join(state.dir, 'identity.json'), 'new identity.json')
    next.adopt()
    expect(content()).toEqual(FILES.map((name) => `new ${name}`))
    expect(readdirSync(dir).toSorted()).toEqual(FILES.toSorted())
  })

  it.each([0, 1, 2])('replaces the old one after an interruption behind %i files', (done) => {
    const { dir, next, content } = setUp()
    const state = next.open('token')
    for (const name of FILES) writeFileSync(join(state.dir, name), `new ${name}`)
    for (const name of FILES.slice(0, done)) renameSync(join(state.dir, name), join(dir, name))
    createNextIdentity({ dir }).adopt()
    expect(content()).toEqual(FILES.map((name) => `new ${name}`))
    expect(existsSync(state.dir)).toBe(false)
  })

  it.each(['key.pem', 'ca.pem'])('continues if %s could not be replaced', (name) => {
    const { dir, next, content } = setUp()
    const state = next.open('token')
    for (const file of FILES) writeFileSync(join(state.dir, file), `new ${file}`)
    rmSync(join(dir, name))
    mkdirSync(join(dir, name, 'blocks'), { recursive: true })
    expect(() => next.adopt()).toThrow()
    rmSync(join(dir, name), { recursive: true })
    next.adopt()
    expect(content()).toEqual(FILES.map((file) => `new ${file}`))
  })

  it('removes the pinned certificate of the old one if it has none', () => {
    const { next, content } = setUp()
    const state = next.open('token')
    writeFileSync(join(state.dir, 'key.pem'), 'new key.pem')
    state.savePinnedCa('')
    writeFileSync(join(state.dir, 'identity.json'), 'new identity.json')
    next.adopt()
    expect(content()).toEqual(['new key.pem', null, 'new identity.json'])
  })

  it('keeps the key of a retry with the same token, and starts again with another token', () => {
    const { next } = setUp()
    writeFileSync(join(next.open('token').dir, 'key.pem'), 'key')
    expect(existsSync(join(next.open('token').dir, 'key.pem'))).toBe(true)
    expect(existsSync(join(next.open('other').dir, 'key.pem'))).toBe(false)
  })
})
