import { unless } from '@portcullis/domain/testing'
import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { createSyslogSender } from '@portcullis/platform/server/syslog/index.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { startRsyslogd, whyNoRsyslogd } from '@portcullis/server/test/rsyslogd.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { eventCatalogue } from '#features/contract.ts'
import { formatCef, formatOcsf, formatRfc5424, type SiemEvent } from './siem/index.ts'

const source = { version: '1.2.3', instance: 'portcullis.example.org' }
const event = (eventID: number): SiemEvent => ({
  eventID,
  category: 'USB',
  creationTime: '2031-05-04T10:11:12.345',
  occurredAt: '2031-05-04T10:11:12.345',
  occurredUncertaintyMs: null,
  eventCode: eventCatalogue.attackTool.code,
  severity: 2,
  severityString: 'Critical',
  eventEntityID: 'ws-1 (10.1.2.3)',
  description: 'Known attack tool detected',
  hashtags: 'lab',
  peripheralIcon: '1',
  details: `Schlüssel "${eventID}" ] \\ | = \r\n<13>1 - - evil - - - x`,
  agentId: '5e2a',
  hostName: 'ws-1',
  address: '10.1.2.3',
  deviceId: '16D0_0DB6_007',
  vid: '16D0',
  pid: '0DB6',
  serial: 'a]b"c\\d',
  vendorName: '',
  productName: '𝔘SB',
})
const authority = await createAuthority()
const messages = Array.from({ length: 300 }, (_, i) => {
  const format = [formatRfc5424, formatCef, formatOcsf][i % 3] as typeof formatCef
  return format(event(i), source)
})

describe.each([
  ['udp', undefined],
  ['tcp', undefined],
  ['tls', 'gtls'],
  ['tls', 'ossl'],
] as const)('rsyslogd over %s %s', (protocol, driver) => {
  const reason = whyNoRsyslogd(driver)
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  it('stores each message once, and parses every part of it', unless(reason), async () => {
    const tls =
      driver === undefined ? {} : { tls: { ...(await authority.issue(['127.0.0.1'])), ca: authority.pem, driver } }
    const receiver = await startRsyslogd({ protocol, ...tls })
    closing.push(receiver.stop)
    const sender = createSyslogSender({
      address: { protocol, host: '127.0.0.1', port: receiver.port },
      ca: [authority.pem],
      resolve: createDestinations(['127.0.0.0/8', '::1']),
    })
    // Over UDP, data beyond the socket buffer is lost, so the receiver gets time to read in between.
    for (let at = 0; at < messages.length; at += 50) {
      await sender.send(messages.slice(at, at + 50))
      if (protocol === 'udp') await receiver.raw(at + 50)
    }
    const raw = await receiver.raw(messages.length)
    expect(raw).toEqual(messages.map(String))
    const read = await receiver.read(messages.length)
    expect(read).toHaveLength(messages.length)
    for (const [index, parts] of read.entries()) {
      const [facility, severity, time, host, app, process, id, structured, text] = parts
      expect([facility, severity, time, host, app, process, id]).toEqual([
        'local0',
        '2',
        '2031-05-04T10:11:12.345Z',
        'portcullis.example.org',
        'portcullis',
        '-',
        '0x110010',
      ])
      expect(parts).toHaveLength(9)
      if (index % 3 === 0) expect(structured).toContain(`eventID="${index}"`)
      else expect(structured).toBe('-')
      if (index % 3 === 1) expect(text).toContain(` externalId=${index} `)
      if (index % 3 === 2) expect(JSON.parse(text ?? '')).toMatchObject({ metadata: { uid: String(index) } })
    }
  })
})
