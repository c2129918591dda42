import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentPaths } from '@portcullis/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, fetchText } from '#test/builders.ts'

const cli = fileURLToPath(new URL('../../../../cli/src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'portcullis-cli-'))
const at = (name: string): string => join(folder, name)
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  writeFileSync(at('token'), await t.signIn())
  writeFileSync(at('passphrase'), 'a passphrase\n')
  writeFileSync(at('agent'), 'echo the agent\n'.repeat(1000))
})
afterAll(async () => {
  await t.close()
  rmSync(folder, { recursive: true })
})

const portcullis = (...args: string[]): Promise<{ code: number | null; out: string; err: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, '--server', t.address, '--token-file', at('token'), 'package', ...args])
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
const sign = (version: string, out: string, ...more: string[]) =>
  portcullis('sign', at('agent'), '--version', version, '--architecture', 'x64', '--out', at(out), ...more)

describe('portcullis package', () => {
  it('makes a key, signs, publishes; an agent downloads what was signed', async () => {
    const keys = await portcullis('keys', '--out', at('release.key'))
    const fingerprint = /release key ([0-9a-f]{64})/.exec(keys.out)?.[1] as string
    expect(statSync(at('release.key')).mode & 0o777).toBe(0o600)

    const signed = await sign('1.4.0', 'agent.pkg', '--key', at('release.key'))
    expect(signed.code, signed.err).toBe(0)
    const untrusted = await portcullis('publish', at('agent.pkg'))
    expect(untrusted).toMatchObject({ code: 1, out: '' })
    expect(untrusted.err).toContain(fingerprint)

    const published = await portcullis('publish', at('agent.pkg'), '--trust', fingerprint)
    expect(published.code, published.err).toBe(0)
    const sha256 = /SHA-256 ([0-9a-f]{64})/.exec(published.out)?.[1] as string
    expect(signed.out).toContain(sha256)

    const listed = await portcullis('list')
    expect(listed.out).toContain(`release key ${fingerprint}`)
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

  it('never overwrites a key', async () => {
    writeFileSync(at('there'), 'mine')
    expect(await portcullis('keys', '--out', at('there'))).toMatchObject({
      code: 1,
      err: `${at('there')} is there already.\n`,
    })
    expect(readFileSync(at('there'), 'utf8')).toBe('mine')
  })

  it('signs with an encrypted key only under its passphrase', async () => {
    const passphrase = ['--passphrase-file', at('passphrase')]
    expect((await portcullis('keys', '--out', at('locked.key'), ...passphrase)).code).toBe(0)
    expect(readFileSync(at('locked.key'), 'utf8')).toContain('ENCRYPTED')
    expect((await sign('1.0.0', 'no.pkg', '--key', at('locked.key'))).code).toBe(1)
    expect((await sign('1.0.0', 'yes.pkg', '--key', at('locked.key'), ...passphrase)).code).toBe(0)
    expect(statSync(at('yes.pkg')).size).toBeLessThan(2_000)
  })

  it.each([
    ['a version that is none', ['--version', '1.4']],
    ['an unknown architecture', ['--architecture', 'sparc']],
    ['a key that is none', ['--key', at('agent')]],
    ['a missing key', ['--key', at('nothing')]],
  ])('refuses %s, and writes nothing', async (_, change) => {
    await portcullis('keys', '--out', at('other.key'))
    const answer = await sign('1.5.0', 'refused.pkg', '--key', at('other.key'), ...change)
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

  it('says that a file is no package before it sends it', async () => {
    expect((await portcullis('publish', at('agent'))).err).toBe(`${at('agent')} is no agent package.\n`)
    expect((await portcullis('publish', at('nothing'))).err).toContain('can not be read')
  })
})
