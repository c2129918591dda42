import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { plainKeyboard } from '@portcullis/domain/testing'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'portcullis-knowledge-'))
let t: TestApp
const passwordFile = join(dir, 'password')

const cli = async (...args: string[]) => {
  const { stdout } = await run(process.execPath, [join(root, 'cli/src/main.ts'), '--json', ...args])
  return JSON.parse(stdout)
}
const online = (...args: string[]) =>
  cli('--server', t.address, '--user', 'admin', '--password-file', passwordFile, ...args)

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  writeFileSync(passwordFile, adminPassword)
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('portcullis knowledge', () => {
  it('creates a key, signs the release folder with one more row, and activates it', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const key = join(dir, 'key.pem')
    const { fingerprint } = await cli('knowledge', 'keys', '--out', key)
    expect(statSync(key).mode & 0o777).toBe(0o600)
    await expect(cli('knowledge', 'keys', '--out', key)).rejects.toThrow('already exists')

    // The files of the release pass the server's own checks.
    for (const file of [
      'usb.ids',
      'vulnerable-peripherals.json',
      'genuine-descriptors.json',
      'vendor-supplement.json',
      'registries.json',
    ])
      copyFileSync(join(root, 'knowledge', file), join(dir, file))
    const tools = JSON.parse(readFileSync(join(root, 'knowledge/attack-tools.json'), 'utf8'))
    const row = { id: 'x', group: 'own', vid: '413C', pid: '2113', name: 'Implant', kind: 'keyboard', source: 'ours' }
    writeFileSync(join(dir, 'attack-tools.json'), JSON.stringify([...tools, row]))
    const out = join(dir, 'knowledge.signed.json')
    const signed = await cli('knowledge', 'sign', dir, '--version', '2031.5.4', '--key', key, '--out', out)
    expect(signed).toEqual({
      version: '2031.5.4',
      files: ['usbIds', 'attackTools', 'vulnerable', 'genuine', 'supplement', 'registries'],
      fingerprint,
    })

    await expect(online('knowledge', 'upload', out)).rejects.toThrow('No knowledge key is trusted yet')
    const { candidate, effect } = await online('knowledge', 'upload', out, '--trust')
    expect(candidate.key).toBe(fingerprint)
    expect(effect).toMatchObject({ designs: 1, hosts: 1, worse: 1, renamed: 0 })
    await online('knowledge', 'apply', candidate.id)
    await t.server.jobs.drain()
    expect((await agent.detail()).severity).toBe(40)
    expect(await online('knowledge', 'status')).toMatchObject({ source: 'upload', trustedKeys: [{ fingerprint }] })
    await online('knowledge', 'rollback')
    await t.server.jobs.drain()
    expect((await agent.detail()).severity).toBe(10)
  })

  it('signs some of the files, and explains invalid input', async () => {
    const key = join(dir, 'key.pem')
    const sign = (folder: string, ...more: string[]) =>
      cli('knowledge', 'sign', folder, '--version', '2031.6', '--key', key, '--out', join(dir, 'some.json'), ...more)
    expect((await sign(dir, '--only', 'genuine', 'supplement')).files).toEqual(['genuine', 'supplement'])
    await expect(sign(dir, '--only', 'malware')).rejects.toThrow('--only does not accept malware')
    await expect(sign(join(dir, 'nowhere'))).rejects.toThrow('contains none of the files')
    await expect(online('knowledge', 'upload', key)).rejects.toThrow('is not a signed knowledge file')
  })
})
