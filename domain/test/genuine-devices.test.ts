import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { interfaceSet, isRootHub } from '@portcullis/domain'
import { keyboardBehindHubs, securityKeyBehindHub } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { dock, genuineDevices, receivers, workstation } from './genuine-devices.ts'
import { evaluate } from './knowledge-data.ts'

const summary = (report: DeviceReport) => {
  const { parsed, kind, attackTool } = evaluate(report)
  return [`${parsed.vid}:${parsed.pid}`, kind, interfaceSet(parsed), attackTool?.name ?? 'nothing']
}

describe('genuine devices', () => {
  it('show a keyboard behind its own hub', () => {
    const devices = keyboardBehindHubs().map((report) => [report.portPath, ...summary(report)])
    expect(devices).toEqual([
      ['1-1', '8087:0020', 'Hub', '09:00:00', 'nothing'],
      ['1-1.5', '17EF:1005', 'Hub', expect.stringMatching(/^09:00:01/), 'nothing'],
      ['1-1.5.4', '05F3:0081', 'Hub', '09:00:00', 'nothing'],
      ['1-1.5.4.2', '05F3:0007', 'Keyboard', '03:00:00 03:01:01', 'nothing'],
    ])
  })

  it('recognise a security key by its report descriptor', () => {
    const key = securityKeyBehindHub().find((report) => report.portPath === '1-2.3')
    const evaluated = evaluate(key!)
    expect(evaluated).toMatchObject({ kind: 'Security Key', isSecurityKey: true, attackTool: null })
    expect(evaluated.parsed).toMatchObject({ vid: '1050', pid: '0120', bcdDevice: 0x0512, iSerial: 0, problems: [] })
    expect(evaluated.vulnerabilities.map((v) => [v.id, v.confidence])).toEqual([['CVE-2024-45678', 'firmware']])
    expect(evaluate({ ...key!, reportDescriptors: [] }).isSecurityKey).toBe(false)
  })

  it('of a workstation are not attack tools, and each has its kind', () => {
    const roots = workstation.filter((report) => isRootHub(evaluate(report).parsed))
    expect(roots.map((report) => report.portPath)).toEqual(['1-3', '1-4'])
    const peripherals = workstation.filter((report) => !roots.includes(report)).map(summary)
    expect(peripherals.map(([id, kind, , attack]) => [id, kind, attack])).toEqual([
      ['203A:FFFA', 'Printer', 'nothing'],
      ['203A:FFFC', 'Mouse', 'nothing'],
      ['1366:1050', 'Communication', 'nothing'],
      ['1D50:6018', 'Communication', 'nothing'],
      ['203A:FFFE', 'Hub', 'nothing'],
    ])
  })

  it.each(['1207', '2405'] as const)(
    'include a receiver with firmware %s: no attack tool, KeyJack by firmware',
    (at) => {
      const evaluated = evaluate(receivers[at])
      expect(evaluated.parsed.bcdDevice.toString(16)).toBe(at)
      expect(evaluated).toMatchObject({ kind: 'Keyboard', attackTool: null })
      expect(evaluated.vulnerabilities.map((v) => `${v.id} ${v.confidence}`)).toContain(
        'Bastille #13 (KeyJack) firmware',
      )
    },
  )

  it('include the plain HID controller of a dock', () => {
    expect(summary(dock)).toEqual(['17EF:30B4', 'HID', '03:00:00', 'nothing'])
  })

  it('have no anomalies', () => {
    expect(genuineDevices().length).toBeGreaterThan(15)
    for (const report of genuineDevices()) expect(evaluate(report).parsed.problems, report.product).toEqual([])
  })
})
