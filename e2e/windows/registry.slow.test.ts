import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('the registry under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('registry.cjs', await bundleForWine('e2e/windows/guest/registry.ts'))
    // As another program writes it.
    const large = 'ab'.repeat(64 * 1024 + 2)
    root.add(
      'fixture.reg',
      `REGEDIT4\n\n[HKEY_LOCAL_MACHINE\\Software\\Fixture]\n"Text"="a text"\n"Number"=dword:fffffffe\n"Large"=hex:${large.match(/../g)?.join(',')}\n`,
    )
    root.run(`wine regedit /agent/fixture.reg; wineserver -w`)
  }, 600_000)
  afterAll(() => root?.remove())

  it('is read and written with types, codes and limits, and removed completely', () => {
    const { status, all } = root.node('registry.cjs')
    expect({ status, all }).toEqual({ status: 0, all: '' })
    expect(JSON.parse(root.read('registry.json'))).toEqual({
      dword: 1,
      holds: true,
      text: 'USB\\VID_0781&PID_5581\\Ü€',
      names: ['1', '2'],
      types: { Layered: [4, 4], Odd: [1, 3], Empty: [3, 0], Strange: [0x4242, 4] },
      keys: ['AllowInstanceIDs'],
      missing: 'null',
      missingKey: '[]',
      wrongType: 'registry_type',
      odd: 'registry_type',
      written: '"a text"',
      number: '4294967294',
      hostile: 'registry_type',
      tooLarge: 'registry_too_large',
      tooMany: 'registry_too_large',
      all: '4096',
      afterRemove: 'null',
      afterTree: expect.not.arrayContaining(['Portcullis']),
    })
    expect(root.run(`wine reg query 'HKLM\\Software\\Policies\\Portcullis'`).status).not.toBe(0)
  })
})
