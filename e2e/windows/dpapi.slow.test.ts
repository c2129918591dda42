import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('sealed data under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('dpapi.cjs', await bundleForWine('e2e/windows/guest/dpapi.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  it('opens only if it is unchanged and used for its purpose', () => {
    const { status, all } = root.node('dpapi.cjs')
    expect({ status, all }).toEqual({ status: 0, all: '' })
    const changed = 'it was changed, or sealed by another account or on another machine'
    expect(JSON.parse(root.read('dpapi.json'))).toEqual({
      opened: 'a secret of Ünicode',
      otherPurpose: null,
      changed: null,
      cut: null,
      empty: null,
      contains: false,
      differs: true,
      stored: 'portcullis-dpapi-1',
      key: 'PRIVATE KEY',
      changedKey: changed,
      foreignKey: changed,
      plainKey: 'it is not sealed by this agent',
    })
  })
})
