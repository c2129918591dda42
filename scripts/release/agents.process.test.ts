import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { windowsScriptLine } from '@portcullis/domain'
import { afterAll, describe, expect, it } from 'vitest'
import { signAgents, updateBuilds } from './agents.ts'
import { TARGETS } from './targets.ts'

const publicText = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')

describe('signed builds of the agent in a release', () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-signed-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const own = generateKeyPairSync('ed25519')
  const other = generateKeyPairSync('ed25519')
  const keyFile = join(dir, 'release.key')
  const passphraseFile = join(dir, 'passphrase.txt')
  writeFileSync(
    keyFile,
    own.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'correct horse' }),
  )
  writeFileSync(passphraseFile, 'correct horse\n')

  /** Signs agents that accept builds of a key, and returns the names of the files. */
  const signed = async (name: string, accepted: KeyObject | null) => {
    const agents = join(dir, name)
    const draft = join(dir, `${name}-draft`)
    mkdirSync(agents)
    mkdirSync(draft)
    const builds = updateBuilds(agents, TARGETS, true)
    for (const { file, architecture } of builds)
      writeFileSync(file, architecture === 'windows-x64' ? `${windowsScriptLine('1.4.0')}\n` : '#!/bin/sh\n')
    const releaseKey = accepted === null ? null : { releaseKey: publicText(accepted), rotations: [] }
    writeFileSync(join(agents, 'manifest.json'), JSON.stringify({ version: '1.4.0', releaseKey, files: [] }))
    const options = {
      agents,
      builds,
      version: '1.4.0',
      draft,
      signer: own.privateKey,
      keyFile,
      passphraseFile,
    }
    return { files: await signAgents(options), written: readdirSync(draft).sort() }
  }

  it('are packages for each architecture, signed by the key that the agents accept', async () => {
    const { files, written } = await signed('own', own.publicKey)
    expect(written).toEqual(
      ['linux-arm64', 'linux-x64', 'windows-x64'].map((name) => `portcullis-agent-1.4.0-${name}.pkg`),
    )
    const texts = files.map((file) => readFileSync(file, 'latin1'))
    expect(texts.map((text) => /"architecture":"(.*?)"/.exec(text)?.[1])).toEqual(['x64', 'arm64', 'windows-x64'])
    for (const text of texts) expect(text).toContain(`"releaseKey":"${publicText(own.publicKey)}"`)
  })

  it('are absent if the agents accept no key or another one', async () => {
    expect(await signed('none', null)).toEqual({ files: [], written: [] })
    expect(await signed('other', other.publicKey)).toEqual({ files: [], written: [] })
  })
})
