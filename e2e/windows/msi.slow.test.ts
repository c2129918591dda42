import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchNode } from '../../scripts/bootstrap/node.mjs'
import { buildInstaller, installerName } from '../../scripts/msi/installer.ts'
import { createMsiTools, whyNoMsi } from '../../scripts/msi/tools.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

const PROGRAM = '/prefix/drive_c/Program Files/Portcullis Agent'
const STATE = '/prefix/drive_c/ProgramData/Portcullis Agent'
const TOKEN = `pce_${'0'.repeat(32)}_${'s'.repeat(43)}`
const SETTINGS = `SERVERURL=https://portcullis.example.org:8443 TOKEN=${TOKEN}`

const build = async (version: string, out: string): Promise<Buffer> => {
  await buildInstaller({ out, version, releaseKey: null, seconds: 1_700_000_000 })
  return readFileSync(join(out, installerName(version)))
}
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

describe('the Windows installer under Wine', unless(whyNoWine() ?? whyNoMsi()), () => {
  let root: WineRoot
  let first: Buffer
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-msi-'))

  beforeAll(async () => {
    root = await createWineRoot()
    first = await build('1.0.0', join(dir, 'first'))
    root.add('first.msi', first)
    root.add('second.msi', await build('1.1.0', join(dir, 'second')))
  }, 900_000)
  afterAll(() => {
    root?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Runs msiexec, then a script in the same system. Returns the exit code of msiexec, its log and the script's output. */
  const msiexec = (args: string, script = '') => {
    const command = `wineserver -p; wine msiexec ${args} /qn /l*v 'C:\\log.txt'; echo $? >/agent/code`
    const { all } = root.run(
      `rm -f /prefix/drive_c/log.txt; ${command}; cp /prefix/drive_c/log.txt /agent/log
{ ${script === '' ? ':' : script}; } >/agent/out 2>&1; wineserver -k; rm -f /prefix/drive_c/log.txt`,
      { timeoutMs: 110_000 },
    )
    const [code, log, out] = ['code', 'log', 'out'].map((name) => root.read(name)) as [string, string, string]
    return { code: Number(code), log, out: out.replaceAll('\r', '') + all }
  }
  const service = `wine reg query 'HKLM\\System\\CurrentControlSet\\Services\\PortcullisAgent'; wine sc query PortcullisAgent`
  /** Everything that names the product, in files and in the registry. */
  const leftovers = () =>
    root.run(
      `find /prefix -iname '*portcullis*'; ls /prefix/drive_c/windows/Installer; grep -il portcullis /prefix/*.reg`,
    ).all

  it('installs a running service with a quoted path, and the settings', () => {
    const { code, log, out } = msiexec(
      `/i 'Z:\\agent\\first.msi' ${SETTINGS} PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128`,
      `${service}; cat '${STATE}/agent.env' '${STATE}/token'; cd '${PROGRAM}'; sha256sum node.exe; ls`,
    )
    expect(code).toBe(0)
    expect(log).not.toContain(TOKEN)
    const value = (name: string) => new RegExp(`^ *${name} +REG_\\w+ +(.*)$`, 'm').exec(out)?.[1]
    expect(
      Object.fromEntries(
        ['ImagePath', 'ObjectName', 'Start', 'Type', 'ErrorControl'].map((name) => [name, value(name)]),
      ),
    ).toEqual({
      ImagePath:
        '"C:\\Program Files\\Portcullis Agent\\node.exe" --no-opt --no-maglev --no-sparkplug --optimize-for-size "C:\\Program Files\\Portcullis Agent\\agent.cjs" service',
      ObjectName: 'LocalSystem',
      Start: '0x2',
      Type: '0x10',
      ErrorControl: '0x1',
    })
    expect(out).toMatch(/STATE +: 4 +RUNNING/)
    expect(out).toContain(`PORTCULLIS_AGENT_STATE_DIR=C:\\ProgramData\\Portcullis Agent
PORTCULLIS_AGENT_SERVER=https://portcullis.example.org:8443
PORTCULLIS_AGENT_TOKEN_FILE=C:\\ProgramData\\Portcullis Agent\\token
PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128
${TOKEN}
`)
    expect(out.slice(out.indexOf('node.exe\n') + 9)).toBe(
      'KOFFI-LICENSE\nLICENSE\nNODE-LICENSE\nTHIRD-PARTY-LICENSES.md\nagent.cjs\nkoffi.node\nnode.exe\nportcullis-agent.cmd\n',
    )
  })

  it('hides the command line with the token from the logs of Windows', () => {
    const table = createMsiTools(join(dir, 'first'))('msiinfo', ['export', installerName('1.0.0'), 'CustomAction'])
    const type = Number(/^Configure\t(\d+)\t/m.exec(table)?.[1])
    expect(type & 0x2000).toBe(0x2000)
  })

  it('contains node.exe unchanged, so that its signature is valid', async () => {
    const original = readFileSync(join(await fetchNode('win-x64'), 'bin', 'node.exe'))
    expect(root.run(`sha256sum '${PROGRAM}/node.exe'`).all).toContain(sha256(original))
  })

  it('keeps identity and settings in an upgrade, and refuses a downgrade', () => {
    const key = root.run(`sha256sum '${STATE}/key.pem'`).all
    expect(key).toMatch(/^[0-9a-f]{64} /)
    const upgraded = msiexec(
      `/i 'Z:\\agent\\second.msi'`,
      `${service}; sha256sum '${STATE}/key.pem'; cat '${STATE}/agent.env'; wine '${PROGRAM}/node.exe' 'C:\\Program Files\\Portcullis Agent\\agent.cjs' --version </dev/null`,
    )
    expect(upgraded.code).toBe(0)
    expect(upgraded.out).toMatch(/STATE +: 4 +RUNNING/)
    expect(upgraded.out).toContain(key)
    expect(upgraded.out).toContain('1.1.0')
    expect(upgraded.out).toContain('PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128')
    const down = msiexec(
      `/i 'Z:\\agent\\first.msi'`,
      `wine reg query 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall' /s`,
    )
    expect(down.code).not.toBe(0)
    expect(down.out.match(/DisplayVersion +REG_SZ +(.*)/g)).toEqual([expect.stringContaining('1.1.0')])
  })

  it('leaves nothing, not even restrictions, when it is uninstalled after an upgrade', () => {
    const key = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall\\Restrictions'
    root.run(
      `wine reg add '${key}' /v DenyRemovableDevices /t REG_DWORD /d 1 /f; wine reg add '${key}\\AllowDeviceIDs' /v 1 /d 'PORTCULLIS\\MANAGED' /f; wineserver -w`,
    )
    expect(root.run(`wine reg query '${key}' /s`).all).toContain('DenyRemovableDevices')
    expect(msiexec(`/x 'Z:\\agent\\second.msi'`).code).toBe(0)
    expect(leftovers()).toBe('')
    expect(root.run(`wine reg query '${key}' /s`).all).not.toContain('Deny')
  })

  it('leaves nothing when it is installed and uninstalled', () => {
    expect(msiexec(`/i 'Z:\\agent\\first.msi' ${SETTINGS}`).code).toBe(0)
    expect(leftovers()).toContain(STATE)
    expect(msiexec(`/x 'Z:\\agent\\first.msi'`).code).toBe(0)
    expect(leftovers()).toBe('')
  })

  it.each([
    ['no address', ''],
    ['no token', 'SERVERURL=https://p.example'],
    ['an address without scheme', `SERVERURL=p.example TOKEN=${TOKEN}`],
    ['a password in the address', `SERVERURL=https://user:pass@p.example TOKEN=${TOKEN}`],
    ['another token', 'SERVERURL=https://p.example TOKEN=secret'],
    ['a proxy that is no address', `${SETTINGS} PORTCULLIS_AGENT_PROXY=proxy:3128`],
  ])('refuses %s and leaves nothing', (_what, values) => {
    expect(msiexec(`/i 'Z:\\agent\\first.msi' ${values}`).code).not.toBe(0)
    expect(leftovers()).toBe('')
  })

  it('uses the address and the token that a server wrote into the package', () => {
    const { slots } = JSON.parse(readFileSync(join(dir, 'first', 'manifest.json'), 'utf8'))
    const content = Buffer.from(first)
    content.write('https://preset.example.org'.padEnd(slots.PresetServer.length), slots.PresetServer.offset)
    content.write(TOKEN.padEnd(slots.PresetToken.length), slots.PresetToken.offset)
    root.add('preset.msi', content)
    const { code, log, out } = msiexec(`/i 'Z:\\agent\\preset.msi'`, `cat '${STATE}/agent.env' '${STATE}/token'`)
    expect(code).toBe(0)
    expect(out).toContain('PORTCULLIS_AGENT_SERVER=https://preset.example.org\n')
    expect(out).toContain(`${TOKEN}\n`)
    expect(log).not.toContain(TOKEN)
    expect(msiexec(`/x 'Z:\\agent\\preset.msi'`).code).toBe(0)
    expect(leftovers()).toBe('')
  })

  it('is signed with the certificate of an organisation, including its library', async (ctx) => {
    if (spawnSync('osslsigncode', ['--version']).error !== undefined) return ctx.skip('no osslsigncode')
    const [key, certificate, out] = [join(dir, 'key.pem'), join(dir, 'certificate.pem'), join(dir, 'signed')]
    const subject = ['-subj', '/CN=Example', '-addext', 'extendedKeyUsage=codeSigning']
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      certificate,
      ...subject,
    ])
    const signWith = `osslsigncode sign -certs '${certificate}' -key '${key}' -h sha256 -in "$IN" -out "$OUT"`
    const files = await buildInstaller({ out, version: '1.0.0', releaseKey: null, seconds: 1_700_000_000, signWith })
    expect(files).toEqual([
      'portcullis-agent-1.0.0-windows-x64.msi',
      'manifest.json',
      'portcullis-agent-1.0.0-windows-x64-signed.msi',
    ])
    const verify = (file: string) => spawnSync('osslsigncode', ['verify', '-CAfile', certificate, '-in', file]).status
    expect(files.filter((name) => name.endsWith('.msi')).map((name) => verify(join(out, name)))).toEqual([1, 0])
    expect(readFileSync(join(out, files[0] ?? '')).equals(first)).toBe(false)
  }, 300_000)

  it('has the same bytes after a second build', async () => {
    expect(sha256(await build('1.0.0', join(dir, 'again')))).toBe(sha256(first))
  }, 300_000)
})
