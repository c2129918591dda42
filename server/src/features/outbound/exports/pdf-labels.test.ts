import { reportLists } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { columnsOf, printedColumns } from './exportable-list.ts'
import { cellText, gradeText, headingOf } from './pdf-labels.ts'

describe('labels of a PDF', () => {
  it.each(Object.entries(reportLists))(
    'name every column of %s differently, and never by its key',
    (_name, { row }) => {
      const columns = columnsOf(row)
      const headings = columns.map(({ heading }) => heading)
      expect(new Set(headings).size).toBe(headings.length)
      for (const heading of headings) expect(heading).toMatch(/^[A-Z][^_]*$/)
      expect(headings.filter((heading) => /[a-z][A-Z]/.test(heading))).toEqual([])
      // A value with a unit or format of its own is not printed raw.
      const formOf = (key: string) => columns.find((column) => column.key === key)?.form
      for (const key of ['firstSeen', 'lastSeen', 'creationTime', 'startTime', 'expiresAt', 'lastUpdated'])
        expect([undefined, 'time'], key).toContain(formOf(key))
      expect([undefined, 'share']).toContain(formOf('share'))
    },
  )

  it('distinguish findings from the severity of events', () => {
    expect(columnsOf(reportLists.agents.row).find(({ key }) => key === 'severity')?.form).toBe('grade')
    expect(columnsOf(reportLists.events.row).find(({ key }) => key === 'severity')?.form).toBe('plain')
    expect(printedColumns(columnsOf(reportLists.agents.row)).find(({ heading }) => heading === 'Finding')).toEqual({
      heading: 'Finding',
      isNumber: false,
      form: 'grade',
    })
    expect([headingOf('severity', true), headingOf('severity', false)]).toEqual(['Finding', 'Severity (number)'])
    expect([gradeText('40'), gradeText('7')]).toEqual(['suspected attack tool', '7'])
  })

  it('format times, shares and booleans for people, and keep other text', () => {
    expect(
      [
        ['time', '2031-05-04T10:11:12.345Z'],
        ['time', '2031-05-04T10:11:12'],
        ['time', 'never'],
        ['time', ''],
        ['share', '0.0123'],
        ['share', '0.000001'],
        ['share', '1'],
        ['share', 'x'],
        ['truth', 'true'],
        ['truth', 'false'],
        ['plain', '2031-05-04T10:11:12.345Z'],
      ].map(([form, text]) => cellText(form as 'time', text as string)),
    ).toEqual([
      '2031-05-04 10:11:12',
      '2031-05-04 10:11:12',
      'never',
      '',
      '1.23 %',
      '0.0001 %',
      '100 %',
      'x',
      'yes',
      'no',
      '2031-05-04T10:11:12.345Z',
    ])
  })
})
