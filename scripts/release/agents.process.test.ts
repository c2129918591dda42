import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { agentFile, signAgents } from './agents.ts'
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
    for (const target of TARGETS) writeFileSync(agentFile(agents, target), '#!/bin/sh\n')
    const releaseKey = accepted === null ? null : { releaseKey: publicText(accepted), rotations: [] }
    writeFileSync(join(agents, 'manifest.json'), JSON.stringify({ version: '1.4.0', releaseKey, files: [] }))
    const options = {
      agents,
      targets: TARGETS,
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
    expect(written).toEqual(['portcullis-agent-1.4.0-linux-arm64.pkg', 'portcullis-agent-1.4.0-linux-x64.pkg'])
    expect(files).toHaveLength(2)
    const text = readFileSync(files[0] ?? '', 'latin1')
    expect(text).toContain('"architecture":"x64"')
    expect(text).toContain(`"releaseKey":"${publicText(own.publicKey)}"`)
  })

  it('are absent if the agents accept no key or another one', async () => {
    expect(await signed('none', null)).toEqual({ files: [], written: [] })
    expect(await signed('other', other.publicKey)).toEqual({ files: [], written: [] })
  })
})
