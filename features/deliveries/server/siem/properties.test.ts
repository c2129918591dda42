// Invariant: Text from a host or device cannot end or add a SIEM message.

import { cleanText, isAddress } from '@portcullis/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { events, sources } from './hostile.ts'
import { formatCef, formatJson, formatOcsf, formatRfc5424, maxSiemBytes, type SiemEvent } from './index.ts'
import { faultsOfOcsf } from './ocsf-schema.ts'
import { parseCef, parseRfc5424 } from './parsers.ts'

const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u
const invisible = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/u

/** Asserts that the received text is the cleaned text, or its beginning with a truncation mark. */
const same = (arrived: string | undefined, sent: string): void => {
  const clean = cleanText(sent, 1e9)
  if (arrived === clean || (clean === '' && arrived === undefined)) return
  expect(arrived?.endsWith('…')).toBe(true)
  expect(clean.startsWith(arrived?.slice(0, -1) ?? 'nothing')).toBe(true)
  expect(Buffer.byteLength(clean)).toBeGreaterThan(Buffer.byteLength(arrived ?? '') - 3)
}

/** Asserts that a message is UTF-8, within the limit, and without line ends and direction marks. */
const textOf = (message: Buffer): string => {
  expect(message.length).toBeLessThanOrEqual(maxSiemBytes)
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(message)
  expect(text).not.toMatch(control)
  expect(text).not.toMatch(invisible)
  return text
}

const texts = ['agentId', 'hostName', 'deviceId', 'vid', 'pid', 'serial', 'hashtags'] as const

describe('hostile texts from hosts and devices', () => {
  it('do not change the meaning of RFC 5424 messages', () => {
    fc.assert(
      fc.property(events, sources, (event, source) => {
        const read = parseRfc5424(textOf(formatRfc5424(event, source)))
        const [ours, origin] = read.structured
        expect(read.structured.map(({ id }) => id)).toEqual(['portcullis@32473', 'origin'])
        expect(read.structured[0]?.names).toHaveLength(new Set(read.structured[0]?.names).size)
        const names = { agentId: 'agentID', deviceId: 'deviceID', hostName: 'host', hashtags: 'tags' } as Record<
          string,
          string
        >
        for (const name of texts) same(ours?.parameters[names[name] ?? name], event[name])
        expect(ours?.parameters.eventID).toBe(String(event.eventID))
        same(origin?.parameters.swVersion, source.version)
        expect([read.app, read.process, read.version]).toEqual(['portcullis', '-', '1'])
        expect(read.priority >> 3).toBe(16)
        expect(read.message.startsWith(cleanText(event.description, 1e9).slice(0, 20))).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('do not change the meaning of CEF messages', () => {
    fc.assert(
      fc.property(events, sources, (event, source) => {
        const { structured, message } = parseRfc5424(textOf(formatCef(event, source)))
        expect(structured).toEqual([])
        const { header, extension, keys } = parseCef(message)
        expect(header.slice(0, 2)).toEqual(['Portcullis', 'Portcullis'])
        same(header[2], source.version)
        same(header[4], event.description)
        expect(header[5]).toMatch(/^(?:[0-9]|10)$/)
        expect(keys).toHaveLength(new Set(keys).size)
        expect(keys.filter((key) => !known.has(key))).toEqual([])
        expect(extension.externalId).toBe(String(event.eventID))
        same(extension.dhost, event.hostName)
        same(extension.cs1, event.deviceId)
        same(extension.cs3, event.serial)
        same(extension.cs4, event.agentId)
        same(extension.cs5, event.hashtags)
        expect(extension.dst ?? extension.c6a3).toBe(isAddress(event.address) ? event.address : undefined)
      }),
      { numRuns: 300 },
    )
  })

  it('do not change the meaning of OCSF messages, which match the schema', () => {
    fc.assert(
      fc.property(events, sources, (event, source) => {
        const { structured, message } = parseRfc5424(textOf(formatOcsf(event, source)))
        expect(structured).toEqual([])
        const read = JSON.parse(message)
        expect(faultsOfOcsf(read)).toEqual([])
        expect(read.metadata.uid).toBe(String(event.eventID))
        same(read.metadata.product.version, source.version)
        same(read.unmapped.hashtags, event.hashtags)
        if (read.peripheral_device !== undefined) same(read.peripheral_device.serial_number, event.serial)
      }),
      { numRuns: 300 },
    )
  })

  it('do not change the meaning of webhooks', () => {
    fc.assert(
      fc.property(events, sources, (event, source) => {
        const body = formatJson(event, source)
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(32_768)
        const { data } = JSON.parse(body) as { data: SiemEvent & { device: Record<string, string> } }
        same(data.details, event.details)
        same(data.device.serial, event.serial)
        expect(formatJson(event, source)).toBe(body)
      }),
      { numRuns: 200 },
    )
  })
})

const known = new Set(
  'externalId rt start cat dvchost dhost dst c6a3 c6a3Label act cs1 cs1Label cs2 cs2Label cs3 cs3Label cs4 cs4Label cs5 cs5Label cs6 cs6Label msg'.split(
    ' ',
  ),
)
