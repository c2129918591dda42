import { describe, expect, it } from 'vitest'
import {
  changesBetween,
  chosenCount,
  chosenDevices,
  cursorOf,
  deviceKey,
  isChosen,
  linesOf,
  modelKey,
  nextLine,
  subjectOf,
  toggled,
  totalsText,
  type Waiting,
  withModel,
} from './waiting.ts'

const device = (uuid: string, hashtags = '') => ({
  uuid,
  hostIdentifier: `HOST-${uuid}`,
  owner: '',
  risk: 0,
  deviceID: `d-${uuid}`,
  serialNumber: `s-${uuid}`,
  present: true,
  isBlocked: false,
  caseNumber: 'PC-000001',
  hashtags,
  lastSeen: '2031-05-04 10:00:00',
})
const model = (pid: string, devices: Waiting['devices']): Waiting => ({
  vid: '0781',
  pid,
  guiVid: 'SanDisk',
  allowedHosts: 0,
  suggestion: null,
  guiPid: `Stick ${pid}`,
  devIcon: 3,
  devIconDescription: 'Mass Storage',
  isKnownAttackTool: false,
  isVulnerablePeripheral: false,
  agentsCount: devices.length,
  peripheralsCount: devices.length,
  blockedCount: 0,
  firstSeen: '2031-05-04 10:00:00',
  lastSeen: '2031-05-04 10:00:00',
  devices,
})
const all = [model('0001', [device('a', 'kiosk,west'), device('b', 'kiosk')]), model('0002', [device('a')])]

describe('keyboard movement', () => {
  it('moves over models and the devices of the open model', () => {
    const closed = linesOf(all, null)
    expect(closed.map(({ key }) => key)).toEqual(['0781:0001', '0781:0002'])
    const lines = linesOf(all, '0781:0001')
    expect(lines).toHaveLength(4)
    expect(nextLine(lines, '0781:0001', 1)).toBe(deviceKey(all[0]!, all[0]!.devices[0]!))
    expect(nextLine(lines, null, 1)).toBe('0781:0001')
    expect(nextLine(lines, '0781:0001', -1)).toBe('0781:0001')
    expect(nextLine(lines, 'gone', 1)).toBe('0781:0001')
    expect(cursorOf(closed, null)).toBe(null)
    expect(cursorOf(closed, { key: '0781:0002', at: 0 })).toBe('0781:0002')
    expect(cursorOf(closed, { key: 'decided', at: 0 })).toBe('0781:0001')
    expect(cursorOf(closed, { key: 'decided', at: 2 })).toBe('0781:0002')
    expect(cursorOf([], { key: 'decided', at: 2 })).toBe(null)
    expect(nextLine([], null, 1)).toBeNull()
  })
})

describe('subjectOf', () => {
  it('contains every device of a model, or one device, with the most common tag first', () => {
    const [line] = linesOf(all, null)
    expect(subjectOf(line!, [])).toMatchObject({ tags: ['kiosk', 'west'], devices: [{ uuid: 'a' }, { uuid: 'b' }] })
    const suggestion = { scope: 'tag', tag: 'west' } as const
    expect(subjectOf({ ...line!, model: { ...line!.model, suggestion } }, []).tags).toEqual(['west', 'kiosk'])
    const one = linesOf(all, '0781:0001')[2]
    expect(subjectOf(one!, [])).toMatchObject({ tags: ['kiosk'], devices: [{ uuid: 'b', serialNumber: 's-b' }] })
  })
})

describe('withModel', () => {
  const [first, second] = all as [Waiting, Waiting]
  const keys = (models: readonly Waiting[]) => models.map(({ pid }) => pid)
  it('changes only the model of the decision', () => {
    const third = model('0003', [])
    expect(keys(withModel(all, [third, second], '0781:0001'))).toEqual(['0002'])
    expect(keys(withModel([second], [third, first, second], '0781:0001'))).toEqual(['0002', '0001'])
    const grown = model('0001', [device('c')])
    expect(withModel(all, [third, grown], '0781:0001')).toEqual([grown, second])
  })
})

describe('changesBetween', () => {
  it('counts models that were added, removed or changed', () => {
    expect(changesBetween(all, all)).toBe(0)
    expect(changesBetween(all, [all[0]!])).toBe(1)
    expect(changesBetween(all, [...all, model('0003', [])])).toBe(1)
    expect(changesBetween(all, [model('0001', [device('a')]), all[1]!])).toBe(1)
  })
})

describe('selection', () => {
  const many = { ...(all[0] as Waiting), peripheralsCount: 9 }
  const [whole, first] = linesOf([many], modelKey(many))
  it('includes unlisted devices of a selected model', () => {
    const chosen = toggled(new Set(), whole!)
    expect(isChosen(chosen, first!)).toBe(true)
    expect(toggled(chosen, first!)).toEqual(chosen)
    expect(chosenCount(chosen, [many])).toBe(9)
    expect(chosenDevices(chosen, [many])).toMatchObject({ devices: [{ uuid: 'a' }, { uuid: 'b' }], unlisted: 7 })
    expect(toggled(chosen, whole!)).toEqual(new Set())
  })

  it('replaces a selected device by its model', () => {
    const chosen = toggled(new Set(), first!)
    expect(chosenDevices(chosen, [many])).toMatchObject({ devices: [{ uuid: 'a' }], unlisted: 0 })
    expect(toggled(chosen, whole!)).toEqual(new Set([modelKey(many)]))
  })

  it('is counted separately from the attached devices', () => {
    expect(totalsText({ recordsTotal: 4, recordsFiltered: 1, attached: 7 })).toBe('1 of 4 models; 7 devices attached')
  })
})
