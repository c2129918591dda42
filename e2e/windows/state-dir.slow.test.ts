import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('the state directory under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('state-dir.cjs', await bundleForWine('e2e/windows/guest/state-dir.ts'))
    root.run(`cd /prefix/drive_c/ProgramData; echo x >File; ln File Hard; mkdir Target; ln -s Target Link`)
  }, 600_000)
  afterAll(() => root?.remove())

  it('is created, and refused at paths that are not folders', () => {
    const { status, all } = root.node('state-dir.cjs')
    expect({ status, all }).toEqual({ status: 0, all: '' })
    const seen = JSON.parse(root.read('state-dir.json'))
    console.log(`under Wine: ${seen.sddl}, link: ${seen.link}`)
    expect(seen).toMatchObject({
      isWine: true,
      dir: 'C:\\ProgramData\\Portcullis Agent',
      first: 'done',
      again: 'done',
      exists: true,
      sddl: expect.stringContaining('D:'),
      isProtected: true,
      // Wine does not keep the owner.
      wine: expect.stringContaining('another user created it'),
      file: expect.stringContaining('it is not a folder'),
      nowhere: expect.stringContaining('it cannot be created or opened'),
      names: 2,
    })
  })
})
