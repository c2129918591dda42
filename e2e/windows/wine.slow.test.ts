import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('Node for Windows under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
  }, 600_000)
  afterAll(() => root?.remove())

  it('runs a script and loads koffi', () => {
    root.add(
      'version.cjs',
      `const loaded = { exports: {} }
process.dlopen(loaded, 'Z:\\\\agent\\\\koffi.node')
const kernel = loaded.exports.load('kernel32.dll')
console.log(process.platform, process.version, loaded.exports.version, kernel.func('uint32 GetCurrentProcessId()')() === process.pid)`,
    )
    expect(root.node('version.cjs')).toMatchObject({ status: 0, out: 'win32 v24.21.0 3.3.4 true\n' })
  })

  it('keeps the changes of one run for the next', () => {
    root.run(`wine reg add 'HKCU\\Software\\Portcullis' /v Kept /d yes /f; wineserver -w`)
    expect(root.run(`wine reg query 'HKCU\\Software\\Portcullis' /v Kept`).all).toContain('yes')
  })
})
