import { describe, expect, it } from 'vitest'
import { type BulkDevice, bulkDecision, meantDevices, modelsOf } from './bulk-decide.ts'

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

  it('names each device on its host', () => {
    expect(bulkDecision('deny', [device('a', { serialNumber: '' })])).toEqual({
      decision: 'deny',
      devices: [{ uuid: 'a', vid: '0781', pid: '5581', deviceID: 'd-a' }],
    })
  })

  it('counts its models, most common first', () => {
    expect(modelsOf([tool, device('a'), device('b')])).toEqual([
      { key: '0781:5581', name: 'SanDisk Ultra', count: 2 },
      { key: '03EB:2401', name: 'Rubber Ducky', count: 1 },
    ])
  })
})
