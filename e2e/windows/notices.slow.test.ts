import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('events and messages under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('notices.cjs', await bundleForWine('e2e/windows/guest/notices.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  it('are passed to Windows without waiting', () => {
    const { status, all } = root.node('notices.cjs')
    expect({ status, all }).toEqual({ status: 0, all: '' })
    const { results, failures, ms } = JSON.parse(root.read('notices.json'))
    console.log(`the message took ${Math.round(ms)} ms: ${JSON.stringify(failures)}`)
    expect(results).toEqual([true, true])
    expect(ms).toBeLessThan(2000)
  })
})
