import { describe, expect, it } from 'vitest'
import { type BulkDevice, bulkDraft, meantDevices, modelsOf } from './bulk-decide.ts'

const device = (uuid: string, change: Partial<BulkDevice> = {}): BulkDevice => ({
  uuid,
  hostIdentifier: `HOST-${uuid}`,
  deviceID: `d-${uuid}`,
  serialNumber: `s-${uuid}`,
  vid: '0781',
  pid: '5581',
  name: 'SanDisk Ultra',
  isAttackTool: false,
  ...change,
})
const tool = device('t', { vid: '03EB', pid: '2401', name: 'Rubber Ducky', isAttackTool: true })

describe('a bulk decision', () => {
  it('covers each device once, and never allows attack tools', () => {
    const all = [device('a'), device('a'), device('b'), tool]
    expect(meantDevices('allow', all).map(({ uuid }) => uuid)).toEqual(['a', 'b'])
    expect(meantDevices('deny', all).map(({ uuid }) => uuid)).toEqual(['a', 'b', 't'])
  })

  it('has a preview with one rule per device and host', () => {
    expect(bulkDraft('deny', [device('a', { serialNumber: '' })])).toEqual({
      add: [{ effect: 'deny', vid: '0781', pid: '5581', serial: '', host: 'a', reason: '–' }],
    })
  })

  it('counts its models, most common first', () => {
    expect(modelsOf([tool, device('a'), device('b')])).toEqual([
      { key: '0781:5581', name: 'SanDisk Ultra', count: 2 },
      { key: '03EB:2401', name: 'Rubber Ducky', count: 1 },
    ])
  })
})
