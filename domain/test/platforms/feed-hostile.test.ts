/** Truncated, mixed, oversized and nested bodies of feeds. */
import { feedLimits } from '@portcullis/contract/feed-lines.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../src/platforms/index.ts'
import { xml } from './feed-fixtures.ts'

const json = (serial: string): string =>
  JSON.stringify({
    EventID: 6416,
    Computer: 'pc-1',
    DeviceId: `USB\\VID_0951&PID_1666\\${serial}`,
    Message: 'a\nb "c" \\',
  })
const xmlOf = (serial: string): string => xml.replace('60A44C3FAFE0B2B0D9A8000B', serial)
const splunkOf = (serial: string): string =>
  `05/04/2031 10:11:12 AM\nLogName=Security\nEventCode=6416\nComputerName=pc-1\nMessage=x\n\nDevice ID:\tUSB\\VID_0951&PID_1666\\${serial}`
const forms: ((serial: string) => string)[] = [
  json,
  xmlOf,
  splunkOf,
  (serial) => `[${json(serial)}]`,
  (serial) => `[\n  ${json(serial)}\n]`,
  (serial) => `{"records": [${json(serial)}], "more": {"a": [1]}}`,
  (serial) => `{"took":1,"hits":{"total":1,"hits":[{"_source":${json(serial)}}]}}`,
  (serial) => JSON.stringify(JSON.parse(json(serial)), null, 2),
  (serial) => `<?xml version="1.0"?>\n<Events>\n${xmlOf(serial)}\n</Events>`,
]
const serialsIn = (body: string): string[] =>
  readFeed(body).events.map(({ instance }) => instance.slice(instance.lastIndexOf('\\') + 1))

describe('a body of any mix', () => {
  it('is read completely, and each invalid line is an error', () => {
    const bad = fc.constantFrom('no event', '{"EventID":6416,', '{"a":"b', '[1', '{]', '<Event x', 'null', '"x"')
    const good = fc.nat(forms.length - 1)
    fc.assert(
      fc.property(fc.array(fc.oneof(bad, good, good), { minLength: 1, maxLength: 12 }), (parts) => {
        const lines = parts.map((part, i) => (typeof part === 'number' ? (forms[part]?.(`S${i}`) ?? '') : part))
        const body = lines.join('\n')
        const wanted = parts.flatMap((part, i) => (typeof part === 'number' ? [`S${i}`] : []))
        const { events, failed, total, errors } = readFeed(body)
        const read = events.map(({ instance }) => instance.slice(instance.lastIndexOf('\\') + 1))
        expect([body, read]).toEqual([body, wanted])
        // What follows a text of several lines is a part of it, unless an event begins.
        const isText = (part: unknown): boolean => forms[part as number] === splunkOf
        const wrong = parts.filter((part, i) => typeof part === 'string' && !parts.slice(0, i).some(isText))
        expect(failed).toBeGreaterThanOrEqual(wrong.length)
        expect(total).toBe(events.length + failed)
        expect(errors.every(({ line }) => line >= 1 && line <= body.split('\n').length)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('loses only the event at which it is truncated', () => {
    fc.assert(
      fc.property(fc.nat(forms.length - 1), fc.nat(forms.length - 1), fc.nat(), (first, second, cut) => {
        const whole = forms[first]?.('FIRST') ?? ''
        const truncated = forms[second]?.('SECOND') ?? ''
        const body = `${whole}\n${truncated.slice(0, 1 + (cut % (truncated.length - 1)))}`
        expect(serialsIn(body)[0]).toBe('FIRST')
        const after = `${truncated.slice(0, 1 + (cut % (truncated.length - 1)))}\n${json('LAST')}`
        expect([after, serialsIn(after).at(-1)]).toEqual([after, 'LAST'])
      }),
      { numRuns: 500 },
    )
  })

  it('of random bytes never throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readFeed(bytes)))
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string({ unit: 'binary' }), (value, text) => {
        readFeed(JSON.stringify({ EventID: 6416, Computer: value, DeviceId: value, EventData: text, message: text }))
        readFeed(text)
      }),
    )
  })
})

describe('a text that a device chose', () => {
  const id = 'USB\\VID_0951&PID_1666\\REAL'
  const evil = JSON.stringify({ Computer: 'pc-2', DeviceName: 'pc-2', DeviceId: id.replace('REAL', 'FAKE') })
  const event = (fields: object) => ({ EventID: 6416, ...fields, Computer: 'pc-1' })
  const xmlText = `<EventData><Data Name="DeviceDescription">${evil}</Data><Data Name="DeviceId">${id.replace('&', '&amp;')}</Data></EventData>`
  it.each([
    ['a description', event({ DeviceDescription: evil, DeviceId: id })],
    ['a name that the exporter renamed', event({ usb_device: { label: evil }, DeviceId: id })],
    ['event data of another exporter', event({ eventdata: { text: evil, deviceId: id } })],
    ['event data in XML', event({ EventData: xmlText })],
    ['an event in a text', { message: JSON.stringify(event({ ClassName: evil, DeviceId: id })) }],
    [
      'a Defender event',
      {
        properties: {
          AdditionalFields: JSON.stringify({ DeviceDescription: evil, DeviceId: id }),
          DeviceName: 'pc-1',
          ActionType: 'PnpDeviceConnected',
        },
      },
    ],
  ])('never decides about the event: %s', (_name, value) => {
    expect(readFeed(JSON.stringify(value)).events).toMatchObject([{ host: 'pc-1', instance: id }])
  })
})

describe('a hostile body', () => {
  const many = (text: string): string => text.repeat(Math.ceil(feedLimits.bodyBytes / text.length))
  it.each([
    ['open objects', many('{\n')],
    ['open lists in objects', many('{"records":[\n')],
    ['lists without a list', many('{"value":1,\n')],
    ['one line of event tags', many('<Event ')],
    ['lines of event tags', many('<Event >\n')],
    ['end tags', many('</Event>')],
    ['dates of Splunk', many('05/04/2031 10:11:12 AM\nLogName=\n')],
    ['quotes', many('"')],
    ['backslashes in a string', `["${many('\\')}`],
    ['objects in a list', `[${many('{"a":"b"},')}`],
    ['quotes in CSV', `_raw,host\n${many('"\n')}`],
    ['empty cells in CSV', `_raw,host\n${many(',')}`],
    ['names of event fields', `{${'"EventID":{"Name":"DeviceId","value":"6416 VID_0951"},'.repeat(1_200)}"a":1}`],
    ['nested lists', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['nested texts', JSON.stringify({ m: JSON.stringify({ m: JSON.stringify({ m: '{"m":'.repeat(1_000) }) }) })],
    ['long keys', `{"${'event_id.'.repeat(7_000)}":6416}`],
    ['labels of a message', JSON.stringify({ EventID: 6416, Computer: 'p', message: 'a: USB\\a\\'.repeat(6_000) })],
  ])('of %s ends soon and stores nothing', (_name, body) => {
    const before = process.cpuUsage()
    expect(readFeed(body).events).toEqual([])
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000_000).toBeLessThan(5)
  })
})
