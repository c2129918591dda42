import { describe, expect, it } from 'vitest'
import { closedDefaults, createDefaults, notRestored, unblockAll } from '../src/enforcement/defaults.ts'
import type { WriteOutcome } from '../src/platform/platform.ts'

const setUp = (values: Record<string, string>) => {
  const kernel = {
    values,
    refused: new Set<string>(),
    writes: [] as string[],
    switches: () => Object.keys(kernel.values),
    default: (name: string): string | undefined => kernel.values[name],
    setDefault(name: string, value: string): void {
      kernel.writes.push(`${name}=${value}`)
      if (kernel.refused.has(name)) throw new Error('EROFS')
      kernel.values[name] = value
    },
  }
  return { kernel, defaults: createDefaults(kernel) }
}

describe('the defaults of an armed host', () => {
  it('are 0, and their old values are stored once, before the first write', () => {
    const { kernel, defaults } = setUp({ usb1: '1', 'usb1/interface': '1', usb2: '0' })
    const remembered: unknown[] = []
    const remember = (old: Record<string, string>) => void remembered.push({ old, writes: kernel.writes.length })
    expect(defaults.close({ usb2: '2' }, remember)).toEqual([])
    expect(remembered).toEqual([{ old: { usb2: '2', usb1: '1', 'usb1/interface': '1' }, writes: 0 }])
    expect(kernel.writes).toEqual(['usb1=0', 'usb1/interface=0'])
    defaults.close({ usb1: '1', 'usb1/interface': '1', usb2: '2' }, remember)
    expect([remembered.length, kernel.writes.length]).toEqual([1, 2])
    kernel.values.usb1 = '1'
    defaults.close({ usb1: '1', 'usb1/interface': '1', usb2: '2' }, remember)
    expect([remembered.length, kernel.writes.at(-1)]).toEqual([1, 'usb1=0'])
  })

  it('are reported once when they cannot be set, and again after a success in between', () => {
    const { kernel, defaults } = setUp({ usb1: '1', usb2: '1' })
    const close = () => defaults.close({}, () => undefined)
    kernel.refused.add('usb1')
    expect([close(), close(), kernel.values.usb2]).toEqual([['usb1: EROFS'], [], '0'])
    kernel.refused.clear()
    expect(close()).toEqual([])
    kernel.refused.add('usb1')
    kernel.values.usb1 = '1'
    expect([close(), close()]).toEqual([['usb1: EROFS'], []])
    defaults.restore({})
    expect(close()).toEqual(['usb1: EROFS'])
  })

  it('skip a switch that disappears while they are set', () => {
    const { kernel, defaults } = setUp({ usb1: '1' })
    kernel.switches = () => ['usb1', 'usb9']
    const remembered: unknown[] = []
    expect(defaults.close({}, (old) => void remembered.push(old))).toEqual([])
    expect([remembered, kernel.writes]).toEqual([[{ usb1: '1' }], ['usb1=0']])
  })

  it('are restored, interfaces first; removed and unchanged switches are skipped', () => {
    const { kernel, defaults } = setUp({
      usb1: '0',
      'usb1/interface': '0',
      usb2: '0',
      'usb2/interface': '1',
      usb3: '0',
    })
    kernel.refused.add('usb3')
    const old = { usb1: '1', 'usb1/interface': '1', usb2: '2', 'usb2/interface': '1', usb3: '1', usb9: '1' }
    expect(defaults.restore(old)).toEqual(['usb3: EROFS'])
    expect(kernel.writes).toEqual(['usb1/interface=1', 'usb1=1', 'usb2=2', 'usb3=1'])
    expect(notRestored(kernel, old)).toEqual({ usb3: '1' })
  })
})

describe('the switches that an agent without its file closed', () => {
  const closed = (kind: { isLasting?: true }) =>
    closedDefaults({
      switches: () => ['usb1', 'usb2', 'usb3'],
      default: (name) => ({ usb1: '0', usb2: '1' })[name],
      ...kind,
    })
  it('are those at 0; a lasting switch may also be half closed', () => {
    expect([closed({}), closed({ isLasting: true })]).toEqual([{ usb1: '1' }, { usb1: '1', usb3: '1' }])
  })
})

describe('unblocking all devices', () => {
  it('restores the defaults first, then opens devices in order, and skips those blocked before arming', () => {
    const { kernel, defaults } = setUp({ usb1: '0', usb2: '0' })
    kernel.refused.add('usb2')
    const authorized = new Map<string, boolean | undefined>([
      ['1-1', false],
      ['1-2', false],
      ['1-3', true],
      ['1-4', false],
      ['1-5', undefined],
    ])
    const did: string[] = []
    const problems = unblockAll({
      gate: {
        isAuthorized: (port) => authorized.get(port),
        instance: (port) => `i${port}`,
        setAuthorized: (port, isAllowed): WriteOutcome => {
          did.push(`${port}=${isAllowed} ${kernel.values.usb1}`)
          return port === '1-4' ? { kind: 'refused', reason: 'EIO' } : { kind: 'done' }
        },
      },
      interfaces: {
        of: (port) =>
          [0, 1, 2].map((number) => ({
            ...{ name: `${port}:1.${number}`, number, configuration: 1, driver: null, hidDrivers: [] },
            isAuthorized: number === 0,
          })),
        open: (toOpen) => void did.push(...toOpen.map(({ name, wanted }) => `${name} ${wanted}`)),
      },
      defaults,
      ports: ['1-1', '1-2', '1-3', '1-4', '1-5'],
      memory: {
        defaults: { usb1: '1', usb2: '1' },
        // The last entry belongs to another attachment at this port.
        foreign: ['1-1|i1-1', '1-3:1.1|i1-3', '1-2|other', '1-2:1.1|other'],
      },
    })
    expect(did).toEqual([
      ...['1-2=true 1', '1-2:1.1 any', '1-2:1.2 any'],
      '1-3:1.2 any',
      ...['1-4=true 1', '1-4:1.1 any', '1-4:1.2 any'],
      ...['1-5:1.1 any', '1-5:1.2 any'],
    ])
    expect(problems).toEqual(['usb2: EROFS', '1-4: EIO'])
  })
})
