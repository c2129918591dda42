import { parseDescriptors, parseReport } from '@portcullis/domain'
import { describeSysfs, hub, plainKeyboard, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'

describe('describeSysfs', () => {
  const reports = [
    hub({ portPath: '1-2' }),
    plainKeyboard({ portPath: '1-2.1' }),
    storageStick({ portPath: '2-1', authorized: false }),
    unifyingReceiver1207({ portPath: '1-1' }),
  ]
  const files = describeSysfs(reports)
  const text = (path: string): string | undefined => files.get(`bus/usb/devices/${path}`)?.toString()

  it('contains the descriptors of every device', () => {
    for (const report of reports) {
      const bytes = files.get(`bus/usb/devices/${report.portPath}/descriptors`)
      expect(parseDescriptors(bytes as Buffer)).toEqual(parseReport(report))
    }
  })

  it('pads and ends lines as the kernel does', () => {
    expect(text('1-1/idVendor')).toBe('046d\n')
    expect(text('1-1/bcdDevice')).toBe('1207\n')
    expect(text('1-1/version')).toBe(' 2.00\n')
    expect(text('1-1/bNumInterfaces')).toBe(' 3\n')
    expect(text('1-1/configuration')).toBe('RQR12.07_B0029\n')
    expect(text('1-1/speed')).toBe('12\n')
    expect(text('1-2.1/devpath')).toBe('2.1\n')
    expect(text('1-1:1.1/bInterfaceProtocol')).toBe('02\n')
  })

  it('omits missing attributes and those that need authorisation', () => {
    expect(text('1-1/serial')).toBeUndefined()
    expect(text('2-1/authorized')).toBe('0\n')
    expect(text('2-1:1.0/bInterfaceClass')).toBeUndefined()
    expect(text('2-1/serial')).toBe('4C530001230615112345\n')
  })

  it('has a root hub for each bus', () => {
    expect(text('usb1/authorized_default')).toBe('1\n')
    expect(text('usb2/idVendor')).toBe('1d6b\n')
    expect(text('usb3/idVendor')).toBeUndefined()
  })
})
