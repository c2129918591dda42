import { describe, expect, it } from 'vitest'
import { columnsOf, type ReportListName, reportLists, reportTraits } from '#features/contract.ts'
import { type CellFormat, printedText, readableText } from './cell-text.ts'
import { fileColumns, printedColumns } from './exportable-list.ts'

describe('labels of columns', () => {
  it.each(Object.entries(reportLists))('name every column of %s differently, and never by its key', (name, list) => {
    const columns = fileColumns(list)
    const headings = columns.map(({ heading }) => heading)
    expect(new Set(headings).size).toBe(headings.length)
    for (const heading of headings) expect(heading).toMatch(/^[A-Z][^_]*$/)
    expect(headings.filter((heading) => /[a-z][A-Z]/.test(heading))).toEqual([])
    // A time includes its zone.
    const labelOf = (key: string) => columns.find((column) => column.key === key)
    for (const key of ['firstSeen', 'lastSeen', 'creationTime', 'startTime', 'expiresAt', 'lastUpdated'])
      if (labelOf(key) !== undefined) expect(labelOf(key)?.heading).toMatch(/ \(UTC\)$/)
    expect([undefined, 'share']).toContain(labelOf('share')?.form)
    for (const { label } of reportTraits[name as ReportListName].filters) expect(label).toMatch(/^[A-Z][^_]*$/)
  })

  it('distinguish findings from the severity of events', () => {
    expect(columnsOf(reportLists.agents.row).severity).toMatchObject({ heading: 'Finding', form: 'code' })
    expect(columnsOf(reportLists.events.row).severity).toMatchObject({ heading: 'Severity (number)', form: 'plain' })
    expect(printedColumns(fileColumns(reportLists.agents)).find(({ heading }) => heading === 'Finding')).toMatchObject({
      isNumber: false,
      form: 'code',
    })
  })
})

const labels = columnsOf(reportLists.agents.row)
const format = (form: CellFormat['form']): CellFormat => ({ form, labels: {} })

it.each([
  ['zoneless', '2031-05-04T10:11:12.345', '2031-05-04 10:11:12', '2031-05-04T10:11:12.345Z'],
  ['time', '2031-05-04T10:11:12.345Z', '2031-05-04 10:11:12', '2031-05-04T10:11:12.345Z'],
  ['time', 'never', 'never', 'never'],
  ['time', '', '', ''],
  ['zoneless', '', '', ''],
  ['date', '05/04/2031', '2031-05-04', '2031-05-04'],
  ['timedText', '2031-05-04 10:11:12 Host armed', '2031-05-04 10:11:12 Host armed', '2031-05-04T10:11:12Z Host armed'],
  ['timedText', 'no time', 'no time', 'no time'],
  ...([
    [
      '[Agent] Device VID/PID are F000/FF02 SN c1  (Hak5 (Bash Bunny) Bunny)',
      'Hak5 (Bash Bunny) Bunny (F000:FF02), serial number c1',
    ],
    [
      '[Agent] Vulnerable Device VID/PID are 046D/C52B  (Logitech Receiver)',
      'Vulnerable Logitech Receiver (046D:C52B)',
    ],
    ['[Agent] Device VID/PID are 1209/0001 SN 7  ()', 'Device 1209:0001, serial number 7'],
    ['[Agent] Device VID/PID are 1209/0001  ()', 'Device 1209:0001'],
    [
      '[Agent] Device VID/PID are 0781/5581  (Ultra): deny rule (all): case 7',
      'Ultra (0781:5581): deny rule (all): case 7',
    ],
    ['ws-1 (10.1.2.3): [Agent] Device VID/PID are 0781/5581  (Ultra)', 'ws-1 (10.1.2.3): Ultra (0781:5581)'],
    ['2 devices attached', '2 devices attached'],
  ].map(([text, readable]) => ['eventText', text, readable, readable]) as ['eventText', string, string, string][]),
  ['parts', 'Dell||||0A5F', 'Dell, 0A5F', 'Dell, 0A5F'],
  [
    'items',
    '02:01||Intel||eth0**02:02||||wlan0',
    '02:01, Intel, eth0; 02:02, wlan0',
    '02:01, Intel, eth0; 02:02, wlan0',
  ],
  ['share', '0.0123', '1.23', '1.23'],
  ['share', '0.000001', '0.0001', '0.0001'],
  ['share', 'x', 'x', 'x'],
  ['truth', 'true', 'yes', 'yes'],
  ['truth', 'false', 'no', 'no'],
  ['plain', '2031-05-04T10:11:12.345Z', '2031-05-04T10:11:12.345Z', '2031-05-04T10:11:12.345Z'],
] as const)('formats a cell of the form %s: %s', (form, text, printed, readable) => {
  expect([printedText(format(form), text), readableText(format(form), text)]).toEqual([printed, readable])
})

it('labels codes, and keeps a code without a label', () => {
  expect(['40', '7'].map((text) => readableText(labels.severity as CellFormat, text))).toEqual([
    'Suspected attack tool',
    '7',
  ])
})
