import { generateKeyPairSync } from 'node:crypto'
import { releaseKeyFingerprint } from '@portcullis/domain'
import { describe, expect, it } from 'vitest'
import { keyInUse } from '../src/release-key-commands.ts'

const newKey = () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  return { releaseKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'), rotations: [] }
}
const mine = newKey()
const theirs = newKey()
const path = '/etc/portcullis/release-key.pub'

describe('portcullis release-key show', () => {
  it('names the key in the agent build of a release without a key file', () => {
    const lines = keyInUse({ file: null, path, held: mine })
    expect(lines).toContain(`release key ${releaseKeyFingerprint(mine.releaseKey)}`)
    expect(lines).toContain('configured in no file: the server uses the key in its agent build')
    expect(lines.at(-1)).toBe('agent build: contains this key')
  })

  it('says that no key is configured if neither the file nor the agent build has one', () => {
    expect(keyInUse({ file: null, path, held: null })).toEqual([
      expect.stringContaining('No release key is configured'),
      'agent build: contains no release key, so its hosts refuse updates',
    ])
  })

  it('reports an agent build with another key than the file', () => {
    const lines = keyInUse({ file: mine, path, held: theirs })
    expect(lines).toContain(`configured in ${path}`)
    expect(lines.at(-1)).toContain(`contains another key, ${releaseKeyFingerprint(theirs.releaseKey)}`)
  })
})
