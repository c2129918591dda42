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
  let windows: ReturnType<WineRoot['open']>
  let first: Buffer
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-msi-'))

  beforeAll(async () => {
    root = await createWineRoot()
    first = await build('1.0.0', join(dir, 'first'))
    root.add('first.msi', first)
    root.add('second.msi', await build('1.1.0', join(dir, 'second')))
    windows = root.open()
  }, 900_000)
  afterAll(async () => {
    await windows?.stop()
    root?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Runs msiexec, then a script in the same system. Returns the exit code of msiexec, its log and the script's output. */
  const msiexec = async (args: string, script = ':') => {
    const log = '/prefix/drive_c/log.txt'
    const { code, out } = await windows.run(
      `wineserver -p 2>/dev/null; wine msiexec ${args} /qn /l*v 'C:\\log.txt' >/dev/null 2>&1; code=$?
mv ${log} /agent/log; { ${script}; } 2>&1; exit $code`,
    )
    return { code, log: root.read('log'), out }
  }
  const service = `wine reg query 'HKLM\\System\\CurrentControlSet\\Services\\PortcullisAgent'; wine sc query PortcullisAgent`
  /** Everything that names the product, in files and in the registry. */
  const leftovers = async () => {
    // Wine writes the registry to its files when it ends.
    const { out } = await windows.run(
      `wineserver -k; find /prefix -iname '*portcullis*'; ls /prefix/drive_c/windows/Installer; grep -il portcullis /prefix/*.reg`,
    )
    return out
  }
  const output = async (script: string) => (await windows.run(script)).out

  it('installs a running service with a quoted path, and the settings', async () => {
    const { code, log, out } = await msiexec(
      `/i 'Z:\\agent\\first.msi' ${SETTINGS} PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128`,
      `${service}; cat '${STATE}/agent.env' '${STATE}/token'; cd '${PROGRAM}'; sha256sum node.exe; ls . bin; cd /; wine cmd /c portcullis-agent --version </dev/null`,
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
      `.:\nKOFFI-LICENSE\nLICENSE\nNODE-LICENSE\nTHIRD-PARTY-LICENSES.md\nagent.cjs\nbin\nkoffi.node\nnode.exe

bin:\nportcullis-agent.cmd\n1.0.0\n`,
    )
  })

  it('changes settings with the same installer, refuses invalid ones, and hides the token', async () => {
    const other = TOKEN.replace('s', 't')
    const before = `sha256sum '${STATE}/agent.env' '${STATE}/token'`
    const kept = await output(before)
    // Only values that a condition refuses: after a failed action, Wine forgets that the package is installed.
    for (const values of ['SERVERURL=p.example', 'TOKEN=secret']) {
      const refused = await msiexec(`/i 'Z:\\agent\\first.msi' ${values}`, before)
      expect([values, refused.code === 0, refused.out]).toEqual([values, false, kept])
    }
    const { code, log, out } = await msiexec(
      `/i 'Z:\\agent\\first.msi' TOKEN=${other}`,
      `${service}; cat '${STATE}/agent.env' '${STATE}/token'`,
    )
    expect(code).toBe(0)
    expect(log).not.toContain(other)
    expect(out).toMatch(/STATE +: 4 +RUNNING/)
    expect(out).toContain('PORTCULLIS_AGENT_SERVER=https://portcullis.example.org:8443\n')
    expect(out).toContain(`${other}\n`)
  })

  it('has a service that quotes its path again after a repair', async () => {
    const key = 'HKLM\\System\\CurrentControlSet\\Services\\PortcullisAgent'
    const unquoted =
      'C:\\Program Files\\Portcullis Agent\\node.exe "C:\\Program Files\\Portcullis Agent\\agent.cjs" service'
    const image = `wine reg query '${key}' /v ImagePath`
    const { code, out } = await msiexec(
      `/i 'Z:\\agent\\first.msi' REINSTALL=ALL`,
      `wine net stop PortcullisAgent; wine reg add '${key}' /v ImagePath /t REG_EXPAND_SZ /d '${unquoted}' /f; ${image}
wine net start PortcullisAgent; for i in $(seq 30); do ${image} | grep -q '"C' && break; sleep 1; done; ${service}`,
    )
    expect(code).toBe(0)
    expect(out).toContain(` ${unquoted}\n`)
    expect(out).toContain(' "C:\\Program Files\\Portcullis Agent\\node.exe" ')
    expect(out).toMatch(/STATE +: 4 +RUNNING/)
  })

  it('hides the command line with the token from the logs of Windows', () => {
    const table = createMsiTools(join(dir, 'first'))('msiinfo', ['export', installerName('1.0.0'), 'CustomAction'])
    for (const name of ['Configure', 'Reconfigure']) {
      const type = Number(new RegExp(`^${name}\\t(\\d+)\\t`, 'm').exec(table)?.[1])
      expect([name, type & 0x2000]).toEqual([name, 0x2000])
    }
  })

  it('contains node.exe unchanged, so that its signature is valid', async () => {
    const original = readFileSync(join(await fetchNode('win-x64'), 'bin', 'node.exe'))
    expect(await output(`sha256sum '${PROGRAM}/node.exe'`)).toContain(sha256(original))
  })

  it('keeps identity and settings in an upgrade, and refuses a downgrade', async () => {
    const key = await output(`sha256sum '${STATE}/key.pem'`)
    expect(key).toMatch(/^[0-9a-f]{64} /)
    const upgraded = await msiexec(
      `/i 'Z:\\agent\\second.msi'`,
      `${service}; sha256sum '${STATE}/key.pem'; cat '${STATE}/agent.env'; wine '${PROGRAM}/node.exe' 'C:\\Program Files\\Portcullis Agent\\agent.cjs' --version </dev/null`,
    )
    expect(upgraded.code).toBe(0)
    expect(upgraded.out).toMatch(/STATE +: 4 +RUNNING/)
    expect(upgraded.out).toContain(key)
    expect(upgraded.out).toContain('1.1.0')
    expect(upgraded.out).toContain('PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128')
    const down = await msiexec(
      `/i 'Z:\\agent\\first.msi'`,
      `wine reg query 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall' /s`,
    )
    expect(down.code).not.toBe(0)
    expect(down.out.match(/DisplayVersion +REG_SZ +(.*)/g)).toEqual([expect.stringContaining('1.1.0')])
  })

  it('leaves nothing, not even restrictions, when it is uninstalled after an upgrade', async () => {
    const key = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall\\Restrictions'
    await output(
      `wine reg add '${key}' /v DenyRemovableDevices /t REG_DWORD /d 1 /f; wine reg add '${key}\\AllowDeviceIDs' /v 1 /d 'PORTCULLIS\\MANAGED' /f`,
    )
    expect(await output(`wine reg query '${key}' /s`)).toContain('DenyRemovableDevices')
    expect((await msiexec(`/x 'Z:\\agent\\second.msi'`)).code).toBe(0)
    expect(await leftovers()).toBe('')
    expect(await output(`wine reg query '${key}' /s`)).not.toContain('Deny')
  })

  it('refuses invalid values and leaves nothing', async () => {
    for (const values of [
      '',
      'SERVERURL=https://p.example',
      `SERVERURL=p.example TOKEN=${TOKEN}`,
      `SERVERURL=http://p.example TOKEN=${TOKEN}`,
      `SERVERURL=https://user:pass@p.example TOKEN=${TOKEN}`,
      'SERVERURL=https://p.example TOKEN=secret',
      `${SETTINGS} PORTCULLIS_AGENT_PROXY=proxy:3128`,
    ])
      expect([values, (await msiexec(`/i 'Z:\\agent\\first.msi' ${values}`)).code === 0]).toEqual([values, false])
    expect(await leftovers()).toBe('')
  })

  it('uses the address and the token that a server wrote into the package', async () => {
    const { slots } = JSON.parse(readFileSync(join(dir, 'first', 'manifest.json'), 'utf8'))
    const content = Buffer.from(first)
    content.write('https://preset.example.org'.padEnd(slots.PresetServer.length), slots.PresetServer.offset)
    content.write(TOKEN.padEnd(slots.PresetToken.length), slots.PresetToken.offset)
    root.add('preset.msi', content)
    const { code, log, out } = await msiexec(`/i 'Z:\\agent\\preset.msi'`, `cat '${STATE}/agent.env' '${STATE}/token'`)
    expect(code).toBe(0)
    expect(out).toContain('PORTCULLIS_AGENT_SERVER=https://preset.example.org\n')
    expect(out).toContain(`${TOKEN}\n`)
    expect(log).not.toContain(TOKEN)
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
