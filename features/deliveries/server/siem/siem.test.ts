// Invariant: The guide shows the messages to SIEMs exactly as they are sent.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventCatalogue } from '#features/contract.ts'
import { formatCef, formatJson, formatOcsf, formatRfc5424, maxSiemBytes, type SiemEvent } from './index.ts'
import { faultsOfOcsf } from './ocsf-schema.ts'

const source = { version: '1.2.3', instance: 'portcullis.example.org' }
const event: SiemEvent = {
  eventID: 4711,
  category: 'USB',
  creationTime: '2031-05-04T10:11:12.345',
  occurredAt: '2031-05-02T09:08:07.654',
  occurredUncertaintyMs: 1000,
  eventCode: eventCatalogue.attackTool.code,
  severity: 2,
  severityString: 'Critical',
  eventEntityID: 'ws-1 (10.1.2.3)',
  description: 'Known attack tool detected',
  hashtags: 'lab,berlin',
  peripheralIcon: '1',
  details: '[Agent] Device VID/PID are 16D0/0DB6 SN 007  (MCS Digistump)',
  agentId: '0197a1b2-7c3d-7000-8000-0123456789ab',
  hostName: 'ws-1',
  address: '10.1.2.3',
  deviceId: 'USB\\VID_16D0&PID_0DB6\\007',
  vid: '16D0',
  pid: '0DB6',
  serial: '007',
  vendorName: '',
  productName: 'MCS Digistump',
}

describe('an event for a SIEM', () => {
  it('is one line in each format', () => {
    const lines = [formatRfc5424, formatCef, formatOcsf].map((format) => format(event, source).toString())
    for (const line of lines) {
      expect(line.startsWith('<130>1 2031-05-04T10:11:12.345Z portcullis.example.org portcullis - 0x110010 ')).toBe(
        true,
      )
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(maxSiemBytes)
    }
  })
  it('says when it happened and when it was received', () => {
    const occurred = Date.parse('2031-05-02T09:08:07.654Z')
    const received = Date.parse('2031-05-04T10:11:12.345Z')
    const ocsf = (given: SiemEvent) =>
      JSON.parse(
        formatOcsf(given, source)
          .toString()
          .replace(/^.*? - \{/, '{'),
      )
    expect(formatRfc5424(event, source).toString()).toContain(
      ' occurredAt="2031-05-02T09:08:07.654Z" uncertaintyMs="1000" ',
    )
    expect(formatCef(event, source).toString()).toContain(` rt=${received} start=${occurred} `)
    expect(ocsf(event)).toMatchObject({ time: occurred, metadata: { logged_time: received } })
    expect(JSON.parse(formatJson(event, source)).data).toMatchObject({
      occurredAt: '2031-05-02T09:08:07.654Z',
      occurredUncertaintyMs: 1000,
    })
    const unknown = { ...event, occurredAt: event.creationTime, occurredUncertaintyMs: null }
    expect(formatRfc5424(unknown, source).toString()).not.toContain('occurredAt')
    expect(formatCef(unknown, source).toString()).not.toContain(' start=')
    expect(ocsf(unknown).time).toBe(received)
  })
  it('is the body of a webhook', () => {
    expect(JSON.parse(formatJson(event, source))).toMatchObject({
      type: 'event.attackTool',
      timestamp: '2031-05-04T10:11:12.345Z',
      data: { eventID: 4711, eventCode: '0x110010', device: { serial: '007' } },
    })
  })

  it.each(Object.entries(eventCatalogue))(
    'has a class of OCSF for %s, with a host, without, and with a device',
    (kind, code) => {
      const one = { ...event, eventCode: code.code, severity: code.severity, category: code.category }
      const none = { agentId: '', hostName: '', address: '', eventEntityID: '', peripheralIcon: '-1' }
      const noDevice = { deviceId: '', vid: '', pid: '', serial: '', vendorName: '', productName: '' }
      const classes = [one, { ...one, ...noDevice }, { ...one, ...none, ...noDevice }].map((given) => {
        const read = JSON.parse(
          formatOcsf(given, source)
            .toString()
            .replace(/^.*? - \{/, '{'),
        )
        expect(faultsOfOcsf(read)).toEqual([])
        return read.class_uid
      })
      expect(new Set(classes).size).toBe(1)
      if (code.category === 'USB') expect(classes[0]).not.toBe(0)
      expect(JSON.parse(formatJson(one, source)).type).toBe(`event.${kind}`)
    },
  )

  it('has a severity on each scale', () => {
    const scales = [0, 1, 2, 3, 4, 5, 6, 7].map((severity) => {
      const given = { ...event, severity }
      const cef = formatCef(given, source).toString()
      const ocsf = formatOcsf(given, source).toString()
      return [cef.slice(0, 5), /\|(\d+)\|dvchost/.exec(cef)?.[1], /"severity_id":(\d)/.exec(ocsf)?.[1]]
    })
    expect(scales).toEqual([
      ['<128>', '10', '6'],
      ['<129>', '10', '5'],
      ['<130>', '9', '5'],
      ['<131>', '7', '4'],
      ['<132>', '5', '3'],
      ['<133>', '3', '2'],
      ['<134>', '2', '1'],
      ['<135>', '0', '1'],
    ])
  })

  it('is truncated between characters, with a mark', () => {
    const long = { ...event, details: '𝔘'.repeat(4_000) }
    for (const format of [formatRfc5424, formatCef, formatOcsf]) {
      const message = format(long, source)
      expect(message.length).toBeGreaterThan(maxSiemBytes - 8)
      expect(message.length).toBeLessThanOrEqual(maxSiemBytes)
      expect(message.toString()).toMatch(/𝔘…(?:"|$)/u)
      expect(message.toString()).not.toContain('\ufffd')
    }
  })

  it('distinguishes detections, attached devices and blocked devices', () => {
    const read = (eventCode: string, change: Partial<SiemEvent> = {}) =>
      JSON.parse(
        formatOcsf({ ...event, eventCode, ...change }, source)
          .toString()
          .replace(/^.*? - \{/, '{'),
      )
    expect(read(eventCatalogue.attackTool.code)).toMatchObject({
      type_uid: 200401,
      is_alert: true,
      finding_info: { uid: '4711' },
    })
    expect(read(eventCatalogue.attached.code)).toMatchObject({
      type_uid: 101001,
      peripheral_device: { serial_number: '007', vendor_id_list: ['16D0'], type_id: 2 },
      device: { hostname: 'ws-1', ip: '10.1.2.3', uid: event.agentId },
    })
    const typeOf = (peripheralIcon: string) => {
      const { type_id, type } = read(eventCatalogue.attached.code, { peripheralIcon }).peripheral_device
      return [type_id, type]
    }
    expect(['7', '4', '6', '21', '98', '-1', ''].map(typeOf)).toEqual([
      [7, 'Webcam'],
      [99, 'Hub'],
      [99, 'Audio'],
      [99, 'Security Key'],
      [0, 'Unknown'],
      [0, 'Unknown'],
      [0, 'Unknown'],
    ])
    expect(read(eventCatalogue.gone.code)).toMatchObject({ type_uid: 101002 })
    expect(read(eventCatalogue.blocked.code)).toMatchObject({ type_uid: 101004, action_id: 2, disposition_id: 2 })
  })

  it('matches the examples in the guide', () => {
    const guide = readFileSync(new URL('../../../../docs/guide/siem.md', import.meta.url), 'utf8')
    for (const format of [formatRfc5424, formatCef, formatOcsf])
      expect(guide).toContain(`\n${format(event, source).toString()}\n`)
    expect(guide).toContain(`\n${formatJson(event, source)}\n`)
  })
})
