import { HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { machineHash } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('facts of a host under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('facts.cjs', await bundleForWine('e2e/windows/guest/facts.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  const facts = 'wine /agent/node.exe "Z:\\agent\\facts.cjs" </dev/null'
  const read = (name: string) => JSON.parse(root.read(name))

  it('come from registry and firmware, and the boot ends with a restart', () => {
    const version = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'
    root.run(`wineserver -p
wine reg add 'HKLM\\Software\\Microsoft\\Cryptography' /v MachineGuid /d 11112222-3333-4444-5555-666677778888 /f
wine reg add '${version}' /v ProductName /d 'Windows 10 Pro' /f
wine reg add '${version}' /v CurrentBuildNumber /d 22631 /f
wine reg add '${version}' /v InstallationType /d Client /f
wine reg add '${version}' /v UBR /t REG_DWORD /d 4317 /f
${facts}; mv facts.json first.json
${facts}; mv facts.json second.json
wineserver -k; wineserver -w
${facts}; wineserver -w`)
    const [first, second, third] = ['first.json', 'second.json', 'facts.json'].map(read)
    expect(Value.Errors(HostFacts, first.facts)).toEqual([])
    expect(first.facts).toMatchObject({
      osName: 'Windows 11 Pro',
      osBuild: '10.0.22631.4317',
      architecture: 'windows-x64',
    })
    expect(first.table).toBeGreaterThan(8)
    expect(first.machineIdHash).toBe(machineHash('11112222-3333-4444-5555-666677778888'))
    expect(third.machineIdHash).toBe(first.machineIdHash)
    console.log(`vendor ${first.facts.vendor}, model ${first.facts.model}, SMBIOS hash ${first.smbiosHash}`)
    expect(first.boot).toMatch(/^[0-9a-f-]{36}$/)
    expect(second.boot).toBe(first.boot)
    expect(third.boot).toMatch(/^[0-9a-f-]{36}$/)
    expect(third.boot).not.toBe(first.boot)
    expect(first.elapsed).toBeGreaterThan(0)
  })
})
