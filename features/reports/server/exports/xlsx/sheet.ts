/** The XML of a worksheet: typed cells, a frozen header and a filter (ECMA-376, SpreadsheetML). */
import { type CellFormat, printedText } from '../cell-text.ts'
import type { CellKind } from '../exportable-list.ts'

export interface SheetColumn extends CellFormat {
  heading: string
  kind: CellKind
}

/** Rows of a worksheet without its header. Excel reads 1,048,576 rows. */
export const maxSheetRows = 1_048_575
/** Characters that Excel reads in one cell. */
const maxCellCharacters = 32_767
const dayMs = 86_400_000
/** Days from 1899-12-30, the first day of spreadsheets, until 1970-01-01. */
const epochDays = 25_569

/** Positions in `cellXfs` of `stylesXml`. */
const styles = { text: 1, heading: 2, time: 3, date: 4 } as const

/** Text cells have the format of text, so that a spreadsheet keeps `05E3` even after somebody edits it. */
export const stylesXml = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="5"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>`

/** Characters that XML or Excel would change, and text that Excel would read as one of its escapes. */
const special = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/gi
const escaped = (character: string): string => {
  if (character === '&') return '&amp;'
  if (character === '<') return '&lt;'
  if (character === '>') return '&gt;'
  return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
}

/** Escapes text for XML; control characters become the escapes of spreadsheets (`_x001F_`). */
export const xmlText = (text: string): string => text.replace(special, escaped)

const cutText = (text: string): string => {
  if (text.length <= maxCellCharacters) return text
  const note = ' … (cut: a cell holds 32,767 characters)'
  return `${text.slice(0, maxCellCharacters - note.length).replace(/[\ud800-\udbff]$/, '')}${note}`
}

const textCell = (place: string, text: string, style: number = styles.text): string =>
  `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${xmlText(cutText(text))}</t></is></c>`

const dayOf = (iso: string): number => Date.parse(iso) / dayMs + epochDays

/** Returns the XML of a cell, or undefined if the text is not a value of the column's type. */
const typedCell = ({ kind, form }: SheetColumn, place: string, text: string): string | undefined => {
  switch (form) {
    case 'truth':
      return `<c r="${place}" t="b"><v>${text === 'true' ? 1 : 0}</v></c>`
    case 'time':
    case 'zoneless': {
      const day = dayOf(text.endsWith('Z') ? text : `${text}Z`)
      return Number.isNaN(day) ? undefined : `<c r="${place}" s="${styles.time}"><v>${day}</v></c>`
    }
    case 'date': {
      const day = dayOf(`${printedText({ form, labels: {} }, text)}T00:00:00Z`)
      return Number.isNaN(day) ? undefined : `<c r="${place}" s="${styles.date}"><v>${day}</v></c>`
    }
    case 'code':
      return undefined
    default: {
      if (kind !== 'number' && form !== 'number') return undefined
      const number = printedText({ form, labels: {} }, text)
      // A spreadsheet keeps 15 digits of a number.
      return /^-?\d{1,15}(?:\.\d+)?$/.test(number) ? `<c r="${place}"><v>${number}</v></c>` : undefined
    }
  }
}

/** Returns the letters of a column, counted from 0. */
const columnLetters = (index: number): string =>
  index < 26
    ? String.fromCharCode(65 + index)
    : `${columnLetters(Math.floor(index / 26) - 1)}${String.fromCharCode(65 + (index % 26))}`

const widthOf = ({ heading, kind, form }: SheetColumn): number => {
  if (form === 'time' || form === 'zoneless') return 20
  return Math.max(heading.length + 4, kind === 'number' || form === 'truth' ? 10 : 24)
}

/** Creates the parts of one worksheet. */
export const createSheet = (columns: readonly SheetColumn[]) => {
  const letters = columns.map((_, i) => columnLetters(i))
  let rows = 1
  return {
    /** Returns the start of the worksheet with its header. */
    open: (): string =>
      `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${columns
        .map((column, i) => `<col min="${i + 1}" max="${i + 1}" width="${widthOf(column)}" customWidth="1"/>`)
        .join(
          '',
        )}</cols><sheetData><row r="1">${columns.map(({ heading }, i) => textCell(`${letters[i]}1`, heading, styles.heading)).join('')}</row>`,
    /** Returns the XML of a row. Empty cells are left out. */
    row: (texts: readonly string[]): string => {
      const number = ++rows
      let cells = ''
      for (let i = 0; i < columns.length; i++) {
        const text = texts[i] as string
        if (text === '') continue
        const column = columns[i] as SheetColumn
        const place = `${letters[i]}${number}`
        cells += typedCell(column, place, text) ?? textCell(place, printedText(column, text))
      }
      return `<row r="${number}">${cells}</row>`
    },
    close: (): string => `</sheetData><autoFilter ref="A1:${letters.at(-1) ?? 'A'}${rows}"/></worksheet>`,
    rows: (): number => rows - 1,
  }
}
