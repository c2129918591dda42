import { eventCodes } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { formatCef, formatJson, formatOcsf, formatRfc5424, maxSiemBytes, type SiemEvent } from '../../src/index.ts'

const source = { version: '1.2.3', instance: 'portcullis.example.org' }
const event: SiemEvent = {
  eventID: 4711,
  category: 'USB',
  creationTime: '2031-05-04T10:11:12.345',
  eventCode: eventCodes.attackTool.code,
  severity: 2,
  severityString: 'Critical',
  eventEntityID: 'ws-1 (10.1.2.3)',
  description: 'Known attack tool detected',
  hashtags: 'lab,berlin',
  peripheralIcon: '1',
  details: 'Agent Device VID/PID are 16D0/0DB6 SN 007  (MCS Digistump)',
  agentId: '5e2a',
  hostName: 'ws-1',
  address: '10.1.2.3',
  deviceId: '16D0_0DB6_007',
  vid: '16D0',
  pid: '0DB6',
  serial: '007',
  vendorName: 'MCS',
  productName: 'Digistump',
}

describe('an event for a SIEM', () => {
  it('is a line in each format', () => {
    const lines = [formatRfc5424, formatCef, formatOcsf].map((format) => format(event, source).toString())
    for (const line of lines) {
      expect(line.startsWith('<130>1 2031-05-04T10:11:12.345Z portcullis.example.org portcullis - 0x110010 ')).toBe(
        true,
      )
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(maxSiemBytes)
    }
  })
  it('is the body of a webhook', () => {
    expect(JSON.parse(formatJson(event, source))).toMatchObject({
      type: 'event.attackTool',
      timestamp: '2031-05-04T10:11:12.345Z',
      data: { eventID: 4711, eventCode: '0x110010', device: { serial: '007' } },
    })
  })
})
