/** Event 6416 and Defender events in the forms in which collectors deliver them, beside those in `feed.test.ts`. */
import { describe, expect, it } from 'vitest'
import { classify } from '../../src/classify.ts'
import { parseReport } from '../../src/index.ts'
import { readFeed, windowsReports } from '../../src/platforms/index.ts'
import { compatible, data, device, hardware, host, lined, time, xml } from './feed-fixtures.ts'

const at = Date.parse('2031-05-04T10:11:12.345Z')
const second = Date.parse('2031-05-04T10:11:12Z')

/** The text of the event, as Windows shows it in the language of the computer. */
const messageIn = (label: {
  device: string
  name: string
  classId: string
  vendor: string
  location: string
}): string =>
  [
    'A new external device was recognized by the system.',
    '',
    'Subject:',
    '\tSecurity ID:\t\tS-1-5-18',
    '\tAccount Name:\t\tPC-7$',
    '\tAccount Domain:\t\tCORP',
    '\tLogon ID:\t\t0x3E7',
    '',
    `${label.device}:\t${device}`,
    '',
    `${label.name}:\tUSB Mass Storage Device`,
    '',
    `${label.classId}:\t\t${data.ClassId}`,
    '',
    'Class Name:\tUSB',
    '',
    `${label.vendor}:\t${lined(hardware)}`,
    '',
    `Compatible IDs:\t${lined(compatible)}`,
    '',
    `${label.location}:\tPort_#0003.Hub_#0001`,
  ].join('\r\n')
const english = {
  device: 'Device ID',
  name: 'Device Name',
  classId: 'Class ID',
  vendor: 'Vendor IDs',
  location: 'Location',
}
const german = {
  device: 'Geräte-ID',
  name: 'Gerätename',
  classId: 'Klassen-ID',
  vendor: 'Hersteller-IDs',
  location: 'Standortinformationen',
}

const splunk = [
  '05/04/2031 10:11:12 AM',
  'LogName=Security',
  'EventCode=6416',
  'EventType=0',
  'ComputerName=PC-7.corp.example',
  'SourceName=Microsoft Windows security auditing.',
  'Type=Information',
  'RecordNumber=436',
  'Keywords=Audit Success',
  'TaskCategory=Plug and Play Events',
  'OpCode=Info',
  `Message=${messageIn(english)}`,
].join('\n')

const winlog = {
  '@timestamp': '2031-05-04T10:11:12.345Z',
  event: { code: '6416', created: '2031-05-04T10:12:00.000Z' },
  host: { name: 'collector.corp.example' },
  agent: { hostname: 'collector' },
  winlog: { event_id: '6416', computer_name: host, channel: 'Security', record_id: 436, event_data: data },
}
/** Flattens objects to keys, as exporters and Graylog do. */
const flat = (value: object, separator: string, prefix = ''): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      typeof inner === 'object'
        ? Object.entries(flat(inner as object, separator, `${prefix}${key}${separator}`))
        : [[`${prefix}${key}`, inner]],
    ),
  )
const openTelemetry = (eventData: unknown) => ({
  channel: 'Security',
  computer: host,
  event_id: { id: 6416, qualifiers: 0 },
  keywords: ['Audit Success'],
  level: 'Information',
  message: 'A new external device was recognized by the system.',
  provider: {
    event_source: '',
    guid: '{54849625-5478-4994-A5BA-3E3B0328C30D}',
    name: 'Microsoft-Windows-Security-Auditing',
  },
  record_id: 436,
  system_time: time,
  task: 'Plug and Play Events',
  event_data: eventData,
})
const anyValue = (value: unknown): object => {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  if (typeof value === 'number') return { intValue: String(value) }
  return typeof value === 'object'
    ? { kvlistValue: { values: Object.entries(value as object).map(([key, one]) => ({ key, value: anyValue(one) })) } }
    : { stringValue: value }
}
const singles = Object.entries(data).map(([name, value]) => ({ [name]: value }))
const powershell5 = {
  Message: messageIn(english),
  Id: 6416,
  Version: 1,
  LogName: 'Security',
  RecordId: 436,
  MachineName: host,
  TimeCreated: `/Date(${at})/`,
  Properties: Object.values(data).map((Value) => ({ Value })),
}

const sources: [string, string, number | null][] = [
  ['Winlogbeat with dotted keys', JSON.stringify(flat(winlog, '.')), at],
  ['a hit of Elasticsearch', JSON.stringify({ _index: 'winlogbeat', _id: 'x', _score: null, _source: winlog }), at],
  [
    'an answer of Elasticsearch',
    JSON.stringify({ took: 3, timed_out: false, hits: { total: { value: 1 }, hits: [{ _id: 'x', _source: winlog }] } }),
    at,
  ],
  ['Graylog, flattened', JSON.stringify({ timestamp: 'x', source: 'pc-7', ...flat(winlog, '_', 'winlogbeat_') }), at],
  [
    'GELF',
    JSON.stringify({
      version: '1.1',
      host,
      short_message: 'A new external device was recognized',
      timestamp: at / 1_000,
      ...Object.fromEntries(Object.entries({ EventID: 6416, ...data }).map(([key, value]) => [`_${key}`, value])),
    }),
    at,
  ],
  [
    'messages of Graylog',
    JSON.stringify({ messages: [{ message: flat(winlog, '_', 'winlogbeat_'), index: 'graylog_0' }], total_results: 1 }),
    at,
  ],
  ['OpenTelemetry with a map', JSON.stringify(openTelemetry(data)), at],
  ['OpenTelemetry with a list', JSON.stringify(openTelemetry({ data: singles })), at],
  [
    'OpenTelemetry over OTLP',
    JSON.stringify({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'host.name', value: { stringValue: 'collector' } }] },
          scopeLogs: [
            { logRecords: [{ timeUnixNano: `${second}000000`, body: anyValue(openTelemetry({ data: singles })) }] },
          ],
        },
      ],
    }),
    at,
  ],
  ['PowerShell 5', JSON.stringify(powershell5), at],
  ['PowerShell 5, indented', JSON.stringify(powershell5, null, 4).replaceAll('\n', '\r\n'), at],
  ['PowerShell 5, the text only', JSON.stringify({ ...powershell5, Properties: [] }), at],
  ['PowerShell 5, a German text', JSON.stringify({ ...powershell5, Properties: [], Message: messageIn(german) }), at],
  ['Splunk, classic text', splunk, null],
  ['Splunk, classic text with CRLF', splunk.replaceAll(/\r?\n/g, '\r\n'), null],
  [
    'a result of Splunk',
    JSON.stringify({ preview: false, result: { _raw: splunk, _time: '2031-05-04 10:11:12.000 UTC', host: 'indexer' } }),
    second,
  ],
  [
    'a result of Splunk with XML',
    JSON.stringify({ result: { _raw: xml, _time: '2031-05-04T10:11:12.000+00:00' } }),
    at,
  ],
  ['XML after the header of syslog', `<13>May  4 10:11:12 pc-7 nxlog: ${xml}`, at],
  ['JSON after the header of syslog', `<13>1 2031-05-04T10:11:12Z pc-7 nxlog - - - ${JSON.stringify(winlog)}`, at],
  ['JSON in a field of Logstash', JSON.stringify({ '@version': '1', message: JSON.stringify(winlog) }), at],
]

describe('a feed of a collector', () => {
  it.each(sources)('reads %s', (_name, text, when) => {
    const { total, events, errors } = readFeed(text)
    expect({ total, errors }).toEqual({ total: 1, errors: [] })
    expect(events).toMatchObject([{ line: 1, host, at: when, instance: device }])
    expect(events[0]?.said).toMatchObject({ HardwareID: hardware, CompatibleID: compatible })
  })

  it('reads UTF-16 with a byte order mark, as PowerShell 5 redirects it', () => {
    const text = `\ufeff${xml}\r\n${xml.replace('>436<', '>437<')}\r\n`
    const little = Buffer.from(text, 'utf16le')
    const big = Buffer.from(little).swap16()
    for (const bytes of [little, big, Buffer.from(text)])
      expect(readFeed(bytes)).toMatchObject({
        total: 2,
        errors: [],
        events: [
          { host, at },
          { host, at },
        ],
      })
  })

  it('reads several events of classic text, and the lines after them', () => {
    const body = [splunk, splunk.replace('=436', '=437'), JSON.stringify(winlog), 'no event'].join('\n')
    const { events, errors } = readFeed(body)
    expect(events.map(({ line }) => line)).toEqual([
      1,
      splunk.split('\n').length + 1,
      2 * splunk.split('\n').length + 1,
    ])
    expect(errors).toEqual([{ line: 2 * splunk.split('\n').length + 2, code: 'not-understood' }])
  })
})

describe('a CSV file', () => {
  const csv = (rows: readonly (readonly string[])[], separator = ',') =>
    rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator)).join('\r\n')
  const more = JSON.stringify({ ClassId: data.ClassId, DeviceId: device, VendorIds: hardware })
  const head = ['Timestamp', 'ReportId', 'DeviceId', 'DeviceName', 'ActionType', 'AdditionalFields']
  const row = [time, '7', 'a'.repeat(40), host, 'PnpDeviceConnected', more]

  it.each([
    ['advanced hunting', csv([head, row]), at],
    ['advanced hunting with semicolons', csv([head, row], ';'), at],
    [
      'Splunk',
      csv([
        ['_raw', '_time', 'host'],
        [splunk, '2031-05-04T10:11:12.000+0000', 'indexer'],
      ]),
      second,
    ],
    [
      'Get-WinEvent in PowerShell 5',
      `#TYPE System.Diagnostics.Eventing.Reader.EventLogRecord\r\n${csv([
        ['Message', 'Id', 'MachineName', 'TimeCreated', 'RecordId'],
        [messageIn(german), '6416', host, '5/4/2031 10:11:12 AM', '436'],
      ])}`,
      null,
    ],
  ])('of %s is read', (_name, text, when) => {
    const { total, events, errors } = readFeed(text)
    expect({ total, errors }).toEqual({ total: 1, errors: [] })
    expect(events).toMatchObject([{ host, at: when, instance: device }])
  })

  it('loses only the record that is not valid', () => {
    const rows = csv([head, row]).split('\r\n')
    const other = csv([row.with(5, more.replace('60A44C3FAFE0B2B0D9A8000B', 'LAST'))])
    const body = [...rows, '"cut', 'x,1,2', JSON.stringify(winlog), other].join('\n')
    const { events, errors, ignored } = readFeed(body)
    expect(events.map(({ line }) => line)).toEqual([2, 5, 6])
    expect([errors, ignored]).toEqual([[{ line: 3, code: 'not-understood' }], 1])
  })
})

describe('the time of an event', () => {
  const nxlog = (EventTime: unknown, more = {}) =>
    readFeed(JSON.stringify({ EventTime, Hostname: host, EventID: 6416, RecordNumber: 1, ...data, ...more }))

  it('has the zone in it, and is unknown without one', () => {
    for (const [text, expected] of [
      ['2031-05-04 10:11:12 +0200', '2031-05-04T08:11:12.000Z'],
      ['2031-05-04T10:11:12.1234567-05:30', '2031-05-04T15:41:12.123Z'],
      [`/Date(${at}+0200)/`, '2031-05-04T10:11:12.345Z'],
      ['1935655872.5', '2031-05-04T10:11:12.500Z'],
      ['1935655872345', '2031-05-04T10:11:12.345Z'],
      ['1935655872345678', '2031-05-04T10:11:12.345Z'],
      ['1935655872345678901', '2031-05-04T10:11:12.345Z'],
      ['2031-05-04 10:11:12', null],
      ['05/04/2031 10:11:12 PM', null],
    ] as const)
      expect([text, nxlog(text).events[0]?.at]).toEqual([text, expected === null ? null : Date.parse(expected)])
    for (const text of ['2031-02-30 10:11:12', '2031-05-04 25:00:00', 'soon', '12', '/Date(x)/'])
      expect([text, nxlog(text).errors[0]?.code]).toEqual([text, 'time-invalid'])
  })

  it('without a zone has that of the feed, and otherwise the next time with one', () => {
    const told = (text: string, more = {}) =>
      readFeed(
        JSON.stringify({ EventTime: text, Hostname: host, EventID: 6416, ...data, ...more }),
        (wall) => wall - 2 * 3_600_000,
      ).events[0]?.at
    expect(told('2031-05-04 10:11:12.345')).toBe(at - 2 * 3_600_000)
    expect(told('05/04/2031 12:11:12 AM')).toBe(Date.parse('2031-05-03T22:11:12Z'))
    expect(told('2031-05-04T10:11:12.345Z')).toBe(at)
    expect(nxlog('2031-05-04 05:11:12', { '@timestamp': '2031-05-04T10:11:12.345Z' }).events[0]?.at).toBe(at)
  })
})

/** An event of Defender about one node, as its streaming API delivers it. */
const defender = (DeviceId: string, ClassId: string, ReportId: number, more = {}) => ({
  time: '2031-05-04T10:11:14.1234567Z',
  tenantId: '01936f2a-7c11-7abc-8def-0123456789ab',
  operationName: 'Publish',
  category: 'AdvancedHunting-DeviceEvents',
  properties: {
    DeviceId: 'a'.repeat(40),
    DeviceName: host,
    ReportId,
    ActionType: 'PnpDeviceConnected',
    AdditionalFields: JSON.stringify({ ClassName: 'in any language', ClassId, DeviceId, VendorIds: [] }),
    ...more,
  },
})
const setup = {
  usb: '36fc9e60-c465-11cf-8056-444553540000',
  disk: '4D36E967-E325-11CE-BFC1-08002BE10318',
  hid: '745a17a0-74d3-11d0-b6fe-00a0c90f57da',
  keyboard: '{4d36e96b-e325-11ce-bfc1-08002be10318}',
  mouse: '4d36e96f-e325-11ce-bfc1-08002be10318',
  net: '4d36e972-e325-11ce-bfc1-08002be10318',
  camera: 'ca3e7ab9-b4c3-4ae6-8251-579ef933890f',
  audioEndpoint: 'c166523c-fe0c-4a94-a586-f1a80cfbbf3e',
}
const kindsOf = (nodes: [id: string, setupClass: string][]): Record<string, string[]> => {
  const lines = nodes.map(([id, setupClass], i) => JSON.stringify(defender(id, setupClass, i)))
  const { events, errors } = readFeed(lines.join('\n'))
  expect(errors).toEqual([])
  return Object.fromEntries(
    windowsReports(events.map(({ said }) => said)).map(({ id, report }) => [
      id,
      classify(parseReport(report), report).kinds,
    ]),
  )
}

describe('a device of Defender', () => {
  it('has the kind of its setup class, or of the nodes below it', () => {
    expect(
      kindsOf([
        ['USB\\VID_0951&PID_1666\\60A44C3FAFE0', setup.usb],
        ['USBSTOR\\Disk&Ven_Kingston&Prod_DataTraveler_3.0&Rev_PMAP\\60A44C3FAFE0&0', setup.disk],
        ['USB\\VID_413C&PID_2113\\6&1A2B3C4D&0&2', setup.usb],
        ['USB\\VID_413C&PID_2113&MI_00\\7&1A2B3C4D&0&0000', setup.hid],
        ['HID\\VID_413C&PID_2113&MI_00\\8&1A2B3C4D&0&0000', setup.keyboard],
        ['USB\\VID_046D&PID_C077\\6&1A2B3C4D&0&3', setup.hid],
        ['HID\\VID_046D&PID_C077\\7&3C4D1A2B&0&0000', setup.mouse],
        ['USB\\VID_0B95&PID_772B\\00AB12', setup.net],
        ['USB\\VID_046D&PID_0825\\55AA', setup.camera],
        ['SWD\\MMDEVAPI\\{0.0.1.00000000}.{1}', setup.audioEndpoint],
        // Without a child, the class USB says nothing.
        ['USB\\VID_05E3&PID_0610\\6&1A2B3C4D&0&4', setup.usb],
        ['USBSTOR\\Disk&Ven_X&Prod_Y&Rev_1\\7&1A2B&0&_&0', setup.disk],
      ]),
    ).toEqual({
      'USB\\VID_0951&PID_1666\\60A44C3FAFE0': ['Mass Storage'],
      'USB\\VID_413C&PID_2113\\6&1A2B3C4D&0&2': ['Keyboard'],
      'USB\\VID_046D&PID_C077\\6&1A2B3C4D&0&3': ['Mouse'],
      'USB\\VID_0B95&PID_772B\\00AB12': ['Network'],
      'USB\\VID_046D&PID_0825\\55AA': ['Video'],
      'USB\\VID_05E3&PID_0610\\6&1A2B3C4D&0&4': ['Unknown'],
    })
  })

  it('has the time of the wrapper if the event has none, and is identified with its time', () => {
    const first = defender('USB\\VID_0951&PID_1666\\A', setup.usb, 24314)
    const later = { ...defender('USB\\VID_0951&PID_1666\\B', setup.usb, 24314), time: '2031-05-06T10:11:14.1Z' }
    const { time: _, ...untimed } = first
    const { events } = readFeed([first, later, untimed].map((one) => JSON.stringify(one)).join('\n'))
    expect(events.map((one) => one.at)).toEqual([
      Date.parse('2031-05-04T10:11:14.123Z'),
      Date.parse('2031-05-06T10:11:14.1Z'),
      null,
    ])
    expect(new Set(events.map(({ key }) => key)).size).toBe(3)
  })
})
