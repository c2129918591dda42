/** The parts of a workbook that name its worksheets (ECMA-376, Open Packaging Conventions). */
import { xmlText } from './sheet.ts'

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const xml = (text: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`
const relationship = (id: number, type: string, target: string): string =>
  `<Relationship Id="rId${id}" Type="${relationships}/${type}" Target="${target}"/>`

export const sheetPath = (number: number): string => `xl/worksheets/sheet${number}.xml`

/** Returns a name that Excel accepts: 31 characters without `[]:*?/\`. */
const sheetName = (title: string, number: number): string => {
  const suffix = number === 1 ? '' : ` (${number})`
  return `${title.replace(/[[\]:*?/\\']/g, ' ').slice(0, 31 - suffix.length)}${suffix}`
}

/** Returns paths and texts of the parts for `sheets` worksheets of rows and one about the file. */
export const packageParts = (title: string, sheets: number): [string, string][] => {
  const numbers = Array.from({ length: sheets + 1 }, (_, i) => i + 1)
  const nameOf = (number: number): string => (number > sheets ? 'About' : sheetName(title, number))
  return [
    [
      'xl/workbook.xml',
      xml(
        `<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>${numbers
          .map((n) => `<sheet name="${xmlText(nameOf(n)).replaceAll('"', '&quot;')}" sheetId="${n}" r:id="rId${n}"/>`)
          .join('')}</sheets></workbook>`,
      ),
    ],
    [
      'xl/_rels/workbook.xml.rels',
      xml(
        `<Relationships xmlns="${packages}/relationships">${numbers
          .map((n) => relationship(n, 'worksheet', `worksheets/sheet${n}.xml`))
          .join('')}${relationship(sheets + 2, 'styles', 'styles.xml')}</Relationships>`,
      ),
    ],
    [
      '_rels/.rels',
      xml(
        `<Relationships xmlns="${packages}/relationships">${relationship(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
      ),
    ],
    [
      '[Content_Types].xml',
      xml(
        `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>${numbers
          .map((n) => `<Override PartName="/${sheetPath(n)}" ContentType="${types}.worksheet+xml"/>`)
          .join('')}</Types>`,
      ),
    ],
  ]
}
