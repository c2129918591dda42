import { feedLimits } from '@portcullis/contract/feed-lines.ts'
import { describe, expect, it } from 'vitest'
import { readFeed, readFeedInSteps, readPoll, windowsReports } from '../../src/platforms/index.ts'
import { compatible, data, dataXml, device, escaped, hardware, host, time, xml } from './feed-fixtures.ts'
import { windowsAnswer } from './windows-host.ts'

const at = Date.parse('2031-05-04T10:11:12.345Z')

/** The same event in the forms of exporters, written from their documentation. */
const windowsForms: Record<string, unknown> = {
  Winlogbeat: {
    '@timestamp': '2031-05-04T10:11:12.345Z',
    event: { code: '6416' },
    winlog: { event_id: '6416', computer_name: host, channel: 'Security', record_id: 436, event_data: data },
  },
  'Winlogbeat before 7': {
    '@timestamp': '2031-05-04T10:11:12.345Z',
    event_id: 6416,
    computer_name: host,
    record_number: '436',
    event_data: data,
  },
  NXLog: { EventTime: '2031-05-04T10:11:12.345000Z', Hostname: host, EventID: 6416, RecordNumber: 436, ...data },
  'Azure SecurityEvent': { TimeGenerated: time, Computer: host, EventID: 6416, EventRecordId: '436', ...data },
  'Azure Event with XML data': {
    TimeGenerated: time,
    Computer: host,
    EventID: 6416,
    EventData: `<EventData xmlns="x">${dataXml}</EventData>`,
  },
  'Azure WindowsEvent': { TimeGenerated: time, Computer: host, EventID: 6416, EventData: data },
  'XML as JSON with attributes': {
    Event: {
      '#attributes': { xmlns: 'x' },
      System: {
        EventID: 6416,
        TimeCreated: { '#attributes': { SystemTime: time } },
        EventRecordID: 436,
        Computer: host,
      },
      EventData: data,
    },
  },
  'XML as JSON with arrays': {
    Event: {
      System: { EventID: { '#text': '6416' }, TimeCreated: { '@SystemTime': time }, Computer: host },
      EventData: { Data: Object.entries(data).map(([name, value]) => ({ '@Name': name, '#text': value })) },
    },
  },
  'XML as JSON with $': {
    Event: {
      System: { EventID: '6416', TimeCreated: { $: { SystemTime: time } }, Computer: host },
      EventData: { Data: Object.entries(data).map(([name, value]) => ({ $: { Name: name }, _: value })) },
    },
  },
  'Fluent Bit': {
    EventID: 6416,
    TimeCreated: '2031-05-04 10:11:12.345 +0000',
    Computer: host,
    StringInserts: Object.values(data),
  },
  PowerShell: {
    Id: 6416,
    MachineName: host,
    RecordId: 436,
    TimeCreated: time,
    Properties: Object.values(data).map((Value) => ({ Value })),
  },
  Wazuh: {
    timestamp: '2031-05-04T10:11:14.001+0000',
    rule: { level: 3, description: 'Windows: device connected', id: '60227' },
    agent: { id: '007', name: 'PC-7', ip: '192.0.2.7' },
    manager: { name: 'wazuh' },
    id: '1935655874.1001',
    decoder: { name: 'windows_eventchannel' },
    data: {
      win: {
        system: { eventID: '6416', systemTime: time, eventRecordID: '436', channel: 'Security', computer: host },
        // Wazuh leaves the entities of XML in these values.
        eventdata: Object.fromEntries(
          Object.entries(data).map(([name, value]) => [name[0]!.toLowerCase() + name.slice(1), escaped(value)]),
        ),
      },
    },
    location: 'EventChannel',
  },
  'Splunk export': { preview: false, result: { _raw: xml } },
}
const defender = {
  Timestamp: time,
  ReportId: 4711,
  DeviceId: 'a'.repeat(40),
  DeviceName: host,
  ActionType: 'PnpDeviceConnected',
  AdditionalFields: JSON.stringify({
    ClassName: 'USB',
    DeviceId: device,
    DeviceDescription: 'USB Mass Storage Device',
    VendorIds: hardware,
  }),
}
const only = (text: string) => {
  const { events, total, failed, ignored } = readFeed(text)
  expect({ total, failed, ignored, events: events.length }).toEqual({ total: 1, failed: 0, ignored: 0, events: 1 })
  return events[0]!
}

describe('a feed of event 6416', () => {
  it.each(Object.entries(windowsForms))('reads the form of %s', (_name, form) => {
    const event = only(JSON.stringify(form))
    expect(event).toMatchObject({ line: 1, host, at, instance: device })
    expect(event.said).toEqual({
      InstanceId: device,
      HardwareID: hardware,
      CompatibleID: compatible,
      Capabilities: 0x10,
    })
  })

  it('reads XML, on one line or several, in a document or without', () => {
    const pretty = xml.replaceAll('><', '>\n<')
    for (const text of [xml, pretty, `\ufeff<?xml version="1.0"?>\n<Events>${xml}</Events>`]) {
      const event = only(text)
      expect(event).toMatchObject({ host, at, instance: device })
      expect(event.said.CompatibleID).toEqual(compatible)
    }
    expect(readFeed(`<Events>\n${pretty}\n${xml}\n</Events>`).events.map(({ line }) => line)).toEqual([
      2,
      3 + pretty.split('\n').length - 1,
    ])
  })

  it('reads XML and JSON lines in one body', () => {
    const { events } = readFeed(`${JSON.stringify(windowsForms.NXLog)}\n${xml}\n`)
    expect(events.map(({ line }) => line)).toEqual([1, 2])
  })

  it('identifies an event by computer, channel, record and time, or by its text', () => {
    const one = windowsForms.Winlogbeat as { winlog: object }
    const keyOf = (change: object) => only(JSON.stringify({ ...one, winlog: { ...one.winlog, ...change } })).key
    expect(keyOf({ record_id: 436 })).toBe(keyOf({ record_id: '436' }))
    expect(keyOf({ record_id: 437 })).not.toBe(keyOf({ record_id: 436 }))
    expect(keyOf({ record_id: undefined })).toContain('"winlog"')
  })
})

describe('a feed of Defender', () => {
  it.each([
    ['a line', JSON.stringify(defender)],
    ['the streaming API', JSON.stringify({ category: 'AdvancedHunting-DeviceEvents', properties: defender })],
    ['records of an event hub', JSON.stringify({ records: [{ properties: defender }] })],
    ['an answer of advanced hunting', JSON.stringify({ Schema: [], Results: [defender] }, null, 2)],
    ['an array', JSON.stringify([{ ...defender, AdditionalFields: JSON.parse(defender.AdditionalFields) }], null, 2)],
  ])('reads %s', (_name, text) => {
    expect(only(text)).toMatchObject({ host, at, instance: device, key: expect.stringContaining('4711') })
  })

  it('reports the invalid elements of an array and reads the others', () => {
    const odd = { ...defender, ReportId: 1, extra: '\\"],[{' }
    const { events, errors } = readFeed(`[${JSON.stringify(odd)}, {"a":}, 7, ${JSON.stringify(defender)}]`)
    expect(events.map(({ line }) => line)).toEqual([1, 4])
    expect(errors.map(({ line }) => line)).toEqual([2, 3])
  })

  it('ignores other actions', () => {
    expect(readFeed(JSON.stringify({ ...defender, ActionType: 'UsbDriveMounted' }))).toMatchObject({ ignored: 1 })
  })
})

describe('a device of a feed', () => {
  it('has the serial number of its instance ID, unless Windows generated it', () => {
    const serialsOf = (id: string) => {
      const event = only(JSON.stringify({ ...(windowsForms.NXLog as object), DeviceId: id }))
      return windowsReports([event.said]).map(({ report }) => report.serial)
    }
    expect(serialsOf(device)).toEqual(['60A44C3FAFE0B2B0D9A8000B'])
    expect(serialsOf('USB\\VID_046D&PID_C03E\\6&DF2EE03&0&6')).toEqual([undefined])
    expect(serialsOf('USB\\VID_0951&PID_1666\\AB&CD')).toEqual(['AB&CD'])
    expect(serialsOf('USB\\\\VID_0951&PID_1666\\\\AB')).toEqual(['AB'])
  })
})

it('shows a device as the poll of a Windows host does', () => {
  const event = only(JSON.stringify(windowsForms.Winlogbeat))
  const answer = windowsAnswer([
    { InstanceId: device, HardwareID: hardware, CompatibleID: compatible, Capabilities: 0x10 },
  ])
  const { reading } = readPoll(Buffer.from(answer))
  if (!reading.ok) throw new Error(reading.message)
  expect(windowsReports([event.said]).map(({ report }) => report)).toEqual(reading.devices)
})

describe('a line in a form that is not read', () => {
  it.each([
    ['JSON', JSON.stringify({ event: { what: 6416, device: { path: device } } })],
    ['text', `May  4 10:11:12 pc-7 Security: 6416: A new external device: ${device}`],
    ['Defender', JSON.stringify({ kind: 'PnpDeviceConnected', device })],
  ])('is an error if it looks like an event: %s', (_name, line) => {
    const other = '{"EventID":4688,"EventRecordID":6416,"CommandLine":"tool VID_0951"}'
    expect(readFeed([other, '{"a":1}', line].join('\n'))).toEqual({
      total: 3,
      events: [],
      ignored: 2,
      failed: 1,
      errors: [{ line: 3, code: 'unknown-form' }],
    })
  })
})

describe('hostile lines', () => {
  it.each([
    '{',
    'null',
    '[',
    '"<Event>"',
    '<Event >',
    `<Event ><EventID>6416</EventID>`,
    '<'.repeat(60_000),
    '<Event '.repeat(9_000),
    `<Event >${"<Data Name='".repeat(5_000)}`,
    '{"a":'.repeat(10_000),
    `[${'['.repeat(4_000_000)}`,
    `["${'\\\\'.repeat(500_000)}`,
    '{"__proto__":{"EventID":6416}}',
    '{"EventID":6416,"Computer":{"#text":{"#text":"x"}},"DeviceId":["USB"]}',
    JSON.stringify({ ...(windowsForms.NXLog as object), Hostname: '\u202eexe.pc' }).replace('exe', 'e xe'),
  ])('change nothing: %#', (text) => {
    const started = performance.now()
    const { events } = readFeed(text)
    expect(events).toEqual([])
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('are cleaned of NUL and lone surrogates', () => {
    const line = { ...(windowsForms.NXLog as object), DeviceId: `${device}\0\ud800`, VendorIds: 'USB\\a\ud800 USB\\ok' }
    const event = only(JSON.stringify(line))
    expect(event.instance).toBe(`${device}\ufffd`)
    expect(event.said.HardwareID).toEqual(['USB\\ok'])
  })

  it.each([
    ['lines', '1\n'.repeat(1_000)],
    ['elements', `[${'1,'.repeat(999)}1]`],
    ['records', `_raw,host\n${'a,b\n'.repeat(1_000)}`],
  ])('are read one after the other: %s', (_what, text) => expect([...readFeedInSteps(text)]).toHaveLength(1_000))

  it('are read up to one more than the limit', () => {
    expect(readFeed('1\n'.repeat(feedLimits.lines + 10))).toMatchObject({ total: feedLimits.lines + 1 })
    expect(readFeed(`[${'1,'.repeat(feedLimits.lines + 10)}1]`)).toMatchObject({ total: feedLimits.lines + 1 })
  })
})
