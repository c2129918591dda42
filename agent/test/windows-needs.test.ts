import { plainKeyboard, storageStick, webcam } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createWindowsNeeds } from '../src/platform/windows/enforcement/needs.ts'
import { createSnapshots } from '../src/platform/windows/enforcement/snapshot.ts'
import { instanceIdOfPath } from '../src/platform/windows/enforcement/system-disks.ts'
import type { RawNode } from '../src/platform/windows/inventory.ts'
import { rawNode, windowsNodes } from './windows-nodes.ts'

const WORKING = 0x180200a
/** A PS/2 port without a keyboard has problem 24, "not present". */
const NOT_PRESENT = 0x1802400

const needsOf = (nodes: readonly RawNode[], disks: readonly string[] = []) =>
  createWindowsNeeds({
    snapshots: createSnapshots({ nodes: () => nodes, clock: { monotonic: () => 0 } }),
    systemDisks: () => disks,
  })
const ps2 = (status: number, problem = 0) =>
  rawNode('ACPI\\PNP0303\\0', { hardwareIds: ['ACPI\\PNP0303', '*PNP0303'], parent: 'PCI\\X\\1', status, problem })

describe('keyboards and pointing devices without a USB port', () => {
  it('include PS/2 keyboards that work, but not an empty PS/2 port', () => {
    expect(needsOf([ps2(WORKING)]).otherKeyboards()).toBe(1)
    expect(needsOf([ps2(NOT_PRESENT, 24)]).otherKeyboards()).toBe(0)
    expect(needsOf([ps2(WORKING)]).otherPointers?.()).toBe(0)
  })

  it('include touch pads on I2C', () => {
    const pad = [
      rawNode('ACPI\\SYNA1D31\\1', { parent: 'PCI\\VEN_8086&DEV_A0E8\\3', status: WORKING }),
      rawNode('HID\\SYNA1D31&COL02\\5', {
        hardwareIds: ['HID_DEVICE_UP:000D_U:0005'],
        parent: 'ACPI\\SYNA1D31\\1',
        status: WORKING,
      }),
    ]
    expect(needsOf(pad).otherPointers?.()).toBe(1)
    expect(needsOf(pad).otherKeyboards()).toBe(0)
  })

  it('include neither USB keyboards nor those of remote sessions', () => {
    const remote = rawNode('HID\\RDP_KBD\\1', {
      hardwareIds: ['HID_DEVICE_UP:0001_U:0006'],
      parent: 'ROOT\\RDPBUS\\0000',
      status: WORKING,
    })
    const usb = windowsNodes(plainKeyboard({ portPath: '1-1' }))
    expect(needsOf([remote, ...usb]).otherKeyboards()).toBe(0)
  })
})

describe('disks that Windows runs from', () => {
  const stick = windowsNodes(storageStick({ portPath: '1-2' }))
  const disk = rawNode('USBSTOR\\DISK&VEN_SANDISK&PROD_ULTRA\\4C53&0', {
    parent: stick[0]?.instanceId ?? '',
    status: WORKING,
  })

  it('are found by their parents', () => {
    expect([...needsOf([...stick, disk], [disk.instanceId ?? '']).bootPorts()]).toEqual(['1-2'])
    expect([...needsOf([...stick, disk], ['SCSI\\DISK&VEN_NVME\\5&0']).bootPorts()]).toEqual([])
  })

  it('are named by the path of their interface', () => {
    const guid = '{53f56307-b6bf-11d0-94f2-00a0c91efb8b}'
    expect(instanceIdOfPath(`\\\\?\\usbstor#disk&ven_sandisk&prod_ultra#4c53&0#${guid}`)).toBe(
      'USBSTOR\\DISK&VEN_SANDISK&PROD_ULTRA\\4C53&0',
    )
    expect(instanceIdOfPath('\\\\.\\PhysicalDrive0')).toBeUndefined()
  })
})

describe('Bluetooth adapters', () => {
  const radio = windowsNodes(webcam({ portPath: '1-7' }))
  const chain = (profile: string, enumerator: string) => [
    ...radio,
    rawNode('BTH\\MS_BTHBRB\\7&1', { parent: radio[0]?.instanceId ?? '', status: WORKING }),
    rawNode(`${enumerator}\\{${profile}-0000-1000-8000-00805F9B34FB}_DEV\\8&1`, {
      parent: 'BTH\\MS_BTHBRB\\7&1',
      status: WORKING,
    }),
  ]

  it('are kept only if input devices are connected through them', () => {
    expect([...(needsOf(chain('00001124', 'BTHENUM')).inputRadios?.() ?? [])]).toEqual(['1-7'])
    expect([...(needsOf(chain('00001812', 'BTHLEDEVICE')).inputRadios?.() ?? [])]).toEqual(['1-7'])
    expect([...(needsOf(chain('0000110B', 'BTHENUM')).inputRadios?.() ?? [])]).toEqual([])
  })
})

it('stops at a cycle of parents', () => {
  const loop = [
    rawNode('HID\\A\\1', { parent: 'HID\\B\\1', hardwareIds: ['HID_DEVICE_UP:0001_U:0006'], status: WORKING }),
    rawNode('HID\\B\\1', { parent: 'HID\\A\\1', status: WORKING }),
  ]
  expect(needsOf(loop).otherKeyboards()).toBe(0)
})
