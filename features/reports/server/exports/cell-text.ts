/** Texts of cells for people, on paper and in CSV. Each has the same meaning as its value in the API. */
import { eventTextForms, type ListColumn, readableEvent } from '#features/contract.ts'

/** Formatter of a cell. */
export type CellFormat = Pick<ListColumn, 'form' | 'labels'>

const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z?$/

/** Formats an instant for people. */
export const utcText = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`

const hexDigits = /^[0-9a-f]{2,4}$/i

const percentText = (text: string): string => {
  const share = Number(text)
  // A fleet of a million hosts has shares below a tenth of a percent.
  return Number.isFinite(share) ? String(Number((share * 100).toPrecision(share < 0.001 ? 1 : 3))) : text
}

/** Dates MM/dd/yyyy as ISO 8601. */
const dateText = (text: string): string => text.replace(/^(\d\d)\/(\d\d)\/(\d{4})$/, '$3-$1-$2')

const partsText = (text: string): string => text.replaceAll('**', '; ').replaceAll('||||', '||').replaceAll('||', ', ')

/** Formats a cell of a PDF. Times are in UTC, as the heading says. Text of another form stays unchanged. */
export const printedText = ({ form, labels }: CellFormat, text: string): string => {
  if (text === '') return text
  switch (form) {
    case 'time':
    case 'zoneless': {
      const [, day, at] = time.exec(text) ?? []
      return day === undefined ? text : `${day} ${at}`
    }
    case 'date':
      return dateText(text)
    case 'parts':
    case 'items':
      return partsText(text)
    case 'share':
      return percentText(text)
    case 'truth':
      return text === 'true' ? 'yes' : text === 'false' ? 'no' : text
    case 'code':
      return labels[text] ?? text
    case 'eventText':
    case 'timedText':
      return readableEvent(text)
    default:
      return text
  }
}

/** Formats a cell of a CSV file for people. Its times have a zone, so that a row can be read without its heading. */
export const readableText = (format: CellFormat, text: string): string => {
  switch (format.form) {
    case 'zoneless':
      return text === '' ? '' : `${text}Z`
    case 'time':
      return text
    case 'hex':
      return text.replace(hexDigits, '0x$&')
    case 'timedText':
      return readableEvent(text[10] === ' ' ? `${text.slice(0, 10)}T${text.slice(11, 19)}Z${text.slice(19)}` : text)
    default:
      return printedText(format, text)
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const readableEventSql = (cell: string): string =>
  eventTextForms.reduce((text, [pattern, form]) => `regexp_replace(${text}, ${quoted(pattern)}, ${quoted(form)})`, cell)

/**
 * Returns SQL that formats a cell like `readableText`. `cell` must be an expression of the source code.
 */
export const readableSql = ({ form, labels }: CellFormat, cell: string): string => {
  switch (form) {
    case 'zoneless':
      return `${cell} || 'Z'`
    case 'timedText':
      return readableEventSql(
        `case when substr(${cell}, 11, 1) = ' ' then left(${cell}, 10) || 'T' || substr(${cell}, 12, 8) || 'Z' || substr(${cell}, 20) else ${cell} end`,
      )
    case 'eventText':
      return readableEventSql(cell)
    case 'date':
      return `case when ${cell} = '' then '' else right(${cell}, 4) || '-' || left(${cell}, 2) || '-' || substr(${cell}, 4, 2) end`
    case 'parts':
    case 'items':
      return `replace(replace(replace(${cell}, '**', '; '), '||||', '||'), '||', ', ')`
    case 'hex':
      return `case when ${cell} ~* '${hexDigits.source}' then '0x' || ${cell} else ${cell} end`
    case 'share':
      return `round(${cell}::numeric * 100, 4)::float8`
    case 'truth':
      return `case ${cell} when true then 'yes' when false then 'no' end`
    case 'code':
      return `case ${cell}::text ${Object.entries(labels)
        .map(([value, label]) => `when ${quoted(value)} then ${quoted(label)}`)
        .join(' ')} else ${cell}::text end`
    default:
      return cell
  }
}
