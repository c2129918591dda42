import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseReleaseKeyFile, windowsScriptLine } from '@portcullis/domain'
import { releaseKeyPair } from '@portcullis/domain/testing'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, fetchText } from '@portcullis/server/test/builders.ts'
import { codeCache } from '@portcullis/server/test/code-cache.ts'
import { configured } from '@portcullis/server/test/packages.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'

const cli = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'portcullis-cli-'))
const at = (name: string): string => join(folder, name)
let t: TestApp

const key = releaseKeyPair()

beforeAll(async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(key) })
  writeFileSync(at('release.key'), key.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const scopes = ['fleet:read', 'packages:manage']
  const made = await (await t.admin()).post('/prime/webui/admin/apiTokens', { name: 'packages', scopes })
  writeFileSync(at('token'), made.json().token)
  writeFileSync(at('password'), `${adminPassword}\n`)
  writeFileSync(at('passphrase'), 'a passphrase\n')
  writeFileSync(at('agent'), `#!/bin/sh\n${'echo the agent\n'.repeat(1000)}`)
})
afterAll(async () => {
  await t.close()
  rmSync(folder, { recursive: true })
})

const run = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], {
      env: { ...codeCache, PATH: process.env.PATH ?? '', ...env },
    })
    const texts = { out: '', err: '' }
    child.stdout.on('data', (data) => {
      texts.out += String(data)
    })
    child.stderr.on('data', (data) => {
      texts.err += String(data)
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...texts }))
  })
/** Runs the command as the Administrator, with a sign-in. */
const portcullis = (...args: string[]) =>
  run(['--server', t.address, '--user', 'admin', '--password-file', at('password'), 'package', ...args])
const byToken = (...args: string[]) => run(['--server', t.address, '--token-file', at('token'), 'package', ...args])
const releaseKey = (...args: string[]) => run(['release-key', ...args])
const sign = (version: string, out: string, ...more: string[]) =>
  portcullis('sign', at('agent'), '--version', version, '--architecture', 'x64', '--out', at(out), ...more)

describe('portcullis package', () => {
  it('signs and publishes, and an agent downloads the signed executable', async () => {
    const signed = await sign('1.4.0', 'agent.pkg', '--key', at('release.key'))
    expect(signed.code, signed.err).toBe(0)
    const trusting = await portcullis('publish', at('agent.pkg'), '--trust', key.fingerprint)
    expect(trusting).toMatchObject({ code: 1, out: '' })
    expect(trusting.err).toContain('cannot be set over the network')

    const published = await portcullis('publish', at('agent.pkg'))
    expect(published.code, published.err).toBe(0)
    const sha256 = /SHA-256 ([0-9a-f]{64})/.exec(published.out)?.[1] as string
    expect(signed.out).toContain(sha256)

    const listed = await portcullis('list')
    expect(listed.out).toContain(`release key ${key.fingerprint}`)
    expect(listed.out).toMatch(/^1\.4\.0 +x64 +Published +yes/m)

    const agent = await enrolAgent(t)
    const got = await fetchText(t, `${agentPaths.packages}/${sha256}`, {
      headers: { authorization: `Bearer ${agent.state.session}` },
    })
    expect(got.text).toBe(readFileSync(at('agent'), 'utf8'))

    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(listed.out)?.[0] as string
    expect((await portcullis('withdraw', id)).out).toContain('withdrawn 1.4.0 x64')
    expect((await portcullis('list')).out).toMatch(/^1\.4\.0 +x64 +Withdrawn/m)
  })

  it('refuses an API token of an Administrator, and names the option to use instead', async () => {
    await sign('9.9.9', 'newer.pkg', '--key', at('release.key'))
    const refused = await byToken('publish', at('newer.pkg'))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('403: API tokens cannot perform this operation.')
    expect(refused.err).toContain('--user <name>')
    const listed = await byToken('list')
    expect(listed.code, listed.err).toBe(0)
    expect(listed.out).not.toContain('9.9.9')
  })

  it('signs out after the command, and reports a wrong password', async () => {
    const sessions = async () => (await (await t.admin()).get('/prime/webui/Auth/Sessions')).json().length
    const before = await sessions()
    expect((await portcullis('list')).code).toBe(0)
    expect(await sessions()).toBe(before)
    writeFileSync(at('wrong'), 'not the password')
    const admin = ['--server', t.address, '--user', 'admin']
    const wrong = await run([...admin, '--password-file', at('wrong'), 'package', 'list'])
    expect(wrong).toMatchObject({ code: 1, err: '401: The user name or password is incorrect.\n' })
    const both = await run([...admin, '--token-file', at('token'), 'package', 'list'])
    expect(both).toMatchObject({ code: 1, err: 'Use either --user or a token, not both.\n' })
  })

  it('signs with an encrypted key only with its passphrase', async () => {
    const passphrase = ['--passphrase-file', at('passphrase')]
    expect((await releaseKey('new', '--out', at('locked.key'), ...passphrase)).code).toBe(0)
    expect(readFileSync(at('locked.key'), 'utf8')).toContain('ENCRYPTED')
    expect((await sign('1.0.0', 'no.pkg', '--key', at('locked.key'))).code).toBe(1)
    expect((await sign('1.0.0', 'yes.pkg', '--key', at('locked.key'), ...passphrase)).code).toBe(0)
    expect(statSync(at('yes.pkg')).size).toBeLessThan(2_000)
  })

  it.each([
    ['an invalid version', ['--version', '1.4']],
    ['an unknown architecture', ['--architecture', 'sparc']],
    ['an invalid key', ['--key', at('agent')]],
    ['a missing key', ['--key', at('nothing')]],
  ])('refuses %s, and writes nothing', async (_, change) => {
    const answer = await sign('1.5.0', 'refused.pkg', '--key', at('release.key'), ...change)
    expect(answer.code).toBe(1)
    expect(answer.err).not.toContain('    at ')
    expect(() => statSync(at('refused.pkg'))).toThrow()
    expect(() => statSync(at('refused.pkg.draft'))).toThrow()
  })

  it('refuses an executable of another architecture', async () => {
    const answer = await portcullis(
      ...['sign', process.execPath, '--version', '1.0.0', '--key', at('release.key'), '--out', at('elf.pkg')],
      ...['--architecture', process.arch === 'x64' ? 'arm64' : 'x64'],
    )
    expect(answer.err).toContain(`is built for ${process.arch}, not for`)
  })

  describe('for Windows', () => {
    const signAs = (architecture: string, file: string, version = '1.4.0') =>
      portcullis(
        ...['sign', at(file), '--version', version, '--architecture', architecture],
        ...['--key', at('release.key'), '--out', at(`${file}.pkg`)],
      )

    it('signs the script that npm run build creates, and a Windows host gets it as an update', async () => {
      const content = `${windowsScriptLine('1.4.0')}\n"use strict";\n`
      writeFileSync(at('windows.cjs'), content)
      const signed = await signAs('windows-x64', 'windows.cjs')
      expect(signed.code, signed.err).toBe(0)
      const published = await portcullis('publish', at('windows.cjs.pkg'))
      expect(published.out).toMatch(/^published 1\.4\.0 windows-x64, SHA-256 [0-9a-f]{64}$/m)
      const host = await enrolAgent(t, { facts: { architecture: 'windows-x64' } })
      const answer = await (await t.admin()).post('/prime/webui/agents/updateAgents', [host.agentId])
      expect(answer.json().accepted).toEqual([host.agentId])
      const [command] = (await host.checkIn()).commands ?? []
      const { version, architecture, sha256 } = JSON.parse(command?.payload ?? '{}')
      expect({ version, architecture }).toEqual({ version: '1.4.0', architecture: 'windows-x64' })
      const got = await fetchText(t, `${agentPaths.packages}/${sha256}`, {
        headers: { authorization: `Bearer ${host.state.session}` },
      })
      expect(got.text).toBe(content)
    })

    it.each([
      ['the program of Node', 'MZ\x90\0', 'windows-x64', 'updates contain only the script of the agent'],
      [
        'the installer',
        '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
        'windows-x64',
        'updates contain only the script of the agent',
      ],
      ['a script for Linux', '#!/bin/sh\n', 'windows-x64', 'is a script for Linux, not for windows-x64'],
      ['another script', '"use strict";\n', 'windows-x64', 'is not an agent'],
      [
        'a script whose version has control characters for the terminal',
        `${windowsScriptLine('1.4.0\x1b[2J')}\n`,
        'windows-x64',
        'is not an agent',
      ],
      [
        'the script for Windows as a build for Linux',
        `${windowsScriptLine('1.4.0')}\n`,
        'x64',
        'is built for windows-x64, not for x64',
      ],
      ['a script of another version', `${windowsScriptLine('1.3.9')}\n`, 'windows-x64', 'has version 1.3.9, not 1.4.0'],
    ])('refuses %s, and writes nothing', async (_, content, architecture, message) => {
      writeFileSync(at('wrong'), Buffer.from(content, 'latin1'))
      const answer = await signAs(architecture, 'wrong')
      expect([answer.code, answer.err]).toEqual([1, expect.stringContaining(message)])
      expect(existsSync(at('wrong.pkg'))).toBe(false)
    })

    it('refuses a Linux executable', async () => {
      const answer = await portcullis(
        ...['sign', process.execPath, '--version', '1.4.0', '--architecture', 'windows-x64'],
        ...['--key', at('release.key'), '--out', at('elf.pkg')],
      )
      expect(answer.err).toContain(`is built for ${process.arch}, not for windows-x64`)
    })
  })

  it('refuses a version that differs from the adjacent build', async () => {
    const sha256 = createHash('sha256')
      .update(readFileSync(at('agent')))
      .digest('hex')
    writeFileSync(at('manifest.json'), JSON.stringify({ version: '0.1.0', files: [{ name: 'agent', sha256 }] }))
    try {
      const answer = await sign('1.6.0', 'other.pkg', '--key', at('release.key'))
      expect([answer.code, answer.err]).toEqual([1, expect.stringContaining('has version 0.1.0, not 1.6.0')])
      expect(() => statSync(at('other.pkg'))).toThrow()
    } finally {
      rmSync(at('manifest.json'))
    }
  })

  it('refuses a file that is not a package before sending it', async () => {
    expect((await portcullis('publish', at('agent'))).err).toBe(`${at('agent')} is not an agent package.\n`)
    expect((await portcullis('publish', at('nothing'))).err).toContain('Cannot read')
  })
})

describe('portcullis package publish with two Administrators', () => {
  it('prints the request that waits for a second approver, and exits with 3', async () => {
    await person(t, { profile: 10 })
    expect((await sign('2.0.0', 'two.pkg', '--key', at('release.key'))).code).toBe(0)
    const stored = await portcullis('publish', at('two.pkg'))
    const { data } = (await (await t.admin()).get('/prime/webui/policy/changerequests')).json()
    expect(stored.code).toBe(3)
    expect(stored.err).toContain(`request ${data[0].id} waits for a second approver`)
    expect(stored.err).toContain(`${t.address}/policy/requests`)
    expect(stored.err).not.toContain('403')
    expect((await portcullis('list')).out).toMatch(/^2\.0\.0 +x64 +Pending/m)
  })
})

describe('portcullis release-key', () => {
  const fingerprintIn = (text: string) => /release key ([0-9a-f]{64})/.exec(text)?.[1] as string
  const publicFile = at('chain.pub')

  it('creates a private and a public file, and overwrites neither', async () => {
    const made = await releaseKey('new', '--out', at('first.key'), '--public', publicFile)
    expect(made.code, made.err).toBe(0)
    expect(statSync(at('first.key')).mode & 0o777).toBe(0o600)
    expect(made.out).toContain('off the server')
    expect(made.out).toContain('WARNING')
    const shown = await releaseKey('show', publicFile)
    expect(fingerprintIn(shown.out)).toBe(fingerprintIn(made.out))
    expect(readFileSync(publicFile, 'utf8')).not.toContain('PRIVATE')

    const [privateText, publicText] = [readFileSync(at('first.key')), readFileSync(publicFile)]
    for (const args of [
      ['--out', at('first.key'), '--public', at('other.pub')],
      ['--out', at('unused.key'), '--public', publicFile],
    ]) {
      const again = await releaseKey('new', ...args)
      expect(again).toMatchObject({ code: 1, out: '' })
      expect(again.err).toContain('already exists')
    }
    expect([readFileSync(at('first.key')), readFileSync(publicFile)]).toEqual([privateText, publicText])
    expect([existsSync(at('unused.key')), existsSync(at('other.pub'))]).toEqual([false, false])
  })

  it('rotates the key: only the newest key can sign the next one', async () => {
    const rotate = (from: string, to: string) =>
      releaseKey('rotate', '--key', at(from), '--out', at(to), '--public', publicFile)
    expect((await rotate('first.key', 'second.key')).code).toBe(0)
    const third = await rotate('second.key', 'third.key')
    expect(third.code, third.err).toBe(0)
    const file = parseReleaseKeyFile(readFileSync(publicFile, 'utf8'))
    expect(file.rotations.map(({ sequence }) => sequence)).toEqual([1, 2])
    const shown = await releaseKey('show', publicFile)
    expect(fingerprintIn(shown.out)).toBe(fingerprintIn(third.out))

    const before = readFileSync(publicFile)
    const old = await rotate('first.key', 'fourth.key')
    expect(old.code).toBe(1)
    expect(old.err).toContain('Only the newest key')
    expect(existsSync(at('fourth.key'))).toBe(false)
    expect((await rotate('third.key', 'second.key')).err).toContain('already exists')
    expect(readFileSync(publicFile)).toEqual(before)
  })

  it('shows where the key is configured, and reports an unusable key', async () => {
    const configuredAt = await run(['release-key', 'show'], { PORTCULLIS_RELEASE_KEY_FILE: publicFile })
    expect(configuredAt.out).toContain(`configured in ${publicFile}`)
    const odd = await run(['release-key', 'show'], { PORTCULLIS_RELEASE_KEY_FILE: at('first.key') })
    expect(odd).toMatchObject({ code: 1, out: '' })
    expect(odd.err).toContain('private key')
    const missing = await run(['release-key', 'show'], { PORTCULLIS_RELEASE_KEY_FILE: at('nowhere') })
    expect(missing.code).toBe(1)
  })
})
