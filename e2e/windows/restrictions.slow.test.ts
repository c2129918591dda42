import { storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { windowsNodes } from '../../agent/test/windows-nodes.ts'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { restrictions } from './restrictions.ts'

describe('the restrictions of Windows in the registry of Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('restrictions.cjs', await bundleForWine('e2e/windows/guest/restrictions.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  it('match the policy while the host is armed, survive a kill, and are restored when it is freed', () => {
    const { status, all } = root.node('restrictions.cjs', [], { timeoutMs: 120_000 })
    expect(all).toBe('')
    expect(status).toBe(0)
    const { steps, timings, works, grade, phantoms } = JSON.parse(root.read('restrictions.json'))
    console.log(`armed within ${timings.armed} ms, approved within ${timings.approved} ms (registry of Wine)`)
    expect(grade).toEqual({ grade: 'before-install', reason: '' })
    expect(works).toEqual({ blocked: false, approved: true, revoked: false, free: true })
    expect(phantoms).toBe(0)
    const idOf = (report: Parameters<typeof windowsNodes>[0]): string =>
      windowsNodes(report)[0]?.instanceId?.replaceAll('\\', '\\\\') ?? ''
    const hubs = [
      '"1"="USB\\\\Class_09"',
      '"2"="USB\\\\USB20_HUB"',
      '"3"="USB\\\\USB30_HUB"',
      '"4"="PORTCULLIS\\\\MANAGED"',
    ]
    const switches = [
      'AllowDenyLayered',
      'AllowDeviceIDs',
      'AllowInstanceIDs',
      'DenyDeviceIDs',
      'DenyRemovableDevices',
    ].map((name) => `"${name}"=dword:00000001`)

    const armed = restrictions(steps.armed)
    expect(armed.switches).toEqual(switches)
    expect(armed.AllowDeviceIDs).toEqual(hubs)
    expect(armed.DenyDeviceIDs).toHaveLength(258)
    expect(armed.DenyDeviceIDs?.join()).not.toContain('Class_09')
    // The keyboard and the camera were attached when the host was armed.
    expect(armed.AllowInstanceIDs).toHaveLength(2)
    expect(armed.AllowInstanceIDs?.join()).not.toContain(idOf(storageStick({ portPath: '1-2' })))
    expect(armed.AllowInstanceIDs?.join()).not.toContain('OTHER')

    const approved = restrictions(steps.approved)
    expect(approved.AllowInstanceIDs).toEqual(
      [...(armed.AllowInstanceIDs ?? []), `"3"="${idOf(storageStick({ portPath: '1-2' }))}"`].sort(),
    )
    expect(timings.approved).toBeLessThan(1000)
    expect(restrictions(steps.recovered)).toEqual(armed)

    expect(restrictions(steps.before)).toEqual({
      switches: ['"DenyRemovableDevices"=dword:00000000'],
      AllowInstanceIDs: ['"7"="USB\\\\VID_1111&PID_2222\\\\OTHER"'],
    })
    expect(steps.free).toBe(steps.before)
    expect(steps.free).toContain('own key: missing')
    const after = root.run(`wine reg query 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall' /s`).all
    expect(after).toContain('OTHER')
    expect(after).not.toContain('PORTCULLIS')
  }, 180_000)
})
