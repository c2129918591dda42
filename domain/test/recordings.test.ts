import { interfaceSet, isRootHub } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { judge } from './knowledge-data.ts'
import { readLsusb, readSysfsTree, whyNoRecordings } from './recordings.ts'

const summary = (report: Parameters<typeof judge>[0]) => {
  const { parsed, kind, attackTool } = judge(report)
  return [`${parsed.vid}:${parsed.pid}`, kind, interfaceSet(parsed), attackTool?.name ?? 'nothing']
}

describe('recorded sysfs trees', unless(whyNoRecordings), () => {
  it('show a keyboard behind its own hub', () => {
    const tree = readSysfsTree('usbkbd')
    const devices = [...tree].map(([path, report]) => [path, ...summary(report)])
    expect(devices.sort()).toEqual([
      ['1-1', '8087:0020', 'Hub', '09:00:00', 'nothing'],
      ['1-1.5', '17EF:1005', 'Hub', expect.stringMatching(/^09:00:01/), 'nothing'],
      ['1-1.5.4', '05F3:0081', 'Hub', '09:00:00', 'nothing'],
      ['1-1.5.4.2', '05F3:0007', 'Keyboard', '03:00:00 03:01:01', 'nothing'],
      ['usb1', '1D6B:0002', 'Hub', '09:00:00', 'nothing'],
    ])
    expect([...tree].filter(([, report]) => isRootHub(judge(report).parsed)).map(([path]) => path)).toEqual(['usb1'])
  })

  it('show a security key, told by its report descriptor', () => {
    const key = readSysfsTree('fido2').get('1-2.3')
    expect(key).toBeDefined()
    const judged = judge(key!)
    expect(judged).toMatchObject({ kind: 'HID', isSecurityKey: true, attackTool: null })
    expect(judged.parsed).toMatchObject({ vid: '1050', pid: '0120', bcdDevice: 0x0512, iSerial: 0, problems: [] })
    expect(judged.vulnerabilities.map((v) => [v.id, v.confidence])).toEqual([['CVE-2024-45678', 'firmware']])
  })

  it('have nothing odd in any device', () => {
    const all = [...readSysfsTree('usbkbd').values(), ...readSysfsTree('fido2').values()]
    expect(all.length).toBeGreaterThan(7)
    for (const report of all) expect(judge(report).parsed.problems, report.portPath).toEqual([])
  })
})

describe('lsusb dumps', unless(whyNoRecordings), () => {
  it('of a workstation hold no attack tool, and every device gets its kind', () => {
    const devices = readLsusb('cyme__lsusb_verbose.txt').map(summary)
    const peripherals = devices.filter(([id]) => !id?.startsWith('1D6B:'))
    expect(peripherals.map(([id, kind, , attack]) => [id, kind, attack]).sort()).toEqual([
      ['1366:1050', 'Communication', 'nothing'],
      ['1D50:6018', 'Communication', 'nothing'],
      ['203A:FFFA', 'Printer', 'nothing'],
      ['203A:FFFC', 'Mouse', 'nothing'],
      ['203A:FFFE', 'Hub', 'nothing'],
    ])
  })

  it.each([
    ['fwupd__logitech-hidpp_lsusb-U0007.txt', '1207', 'RQR12.07_B0029'],
    ['fwupd__logitech-hidpp_lsusb-U0008.txt', '2405', 'RQR24.05_B0029'],
  ])('of the genuine receiver in %s: no attack tool, KeyJack by firmware', (file, bcdDevice, configuration) => {
    const receiver = readLsusb(file).find((report) => summary(report)[0] === '046D:C52B')
    expect(receiver).toMatchObject({ manufacturer: 'Logitech', product: 'USB Receiver', configuration })
    const judged = judge(receiver!)
    expect(judged.parsed.bcdDevice.toString(16)).toBe(bcdDevice)
    expect(judged).toMatchObject({ kind: 'Keyboard', attackTool: null })
    expect(judged.vulnerabilities.map((v) => `${v.id} ${v.confidence}`)).toContain('Bastille #13 (KeyJack) firmware')
  })

  it('of a dock: its controller is plain HID', () => {
    expect(readLsusb('fwupd__usi-dock_lsusb.txt').map(summary)).toEqual([['17EF:30B4', 'HID', '03:00:00', 'nothing']])
  })
})
