import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { textOfFile } from './list-file.ts'

/** Packs files as a ZIP archive, in the form that Excel writes. */
const zip = (files: Readonly<Record<string, string>>): Buffer<ArrayBuffer> => {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(text)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(8, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    locals.push(local, Buffer.from(name), packed)
    central.push(entry, Buffer.from(name))
    offset += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...central, end])
}
const sheet = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`

describe('a file with a list', () => {
  it('is read from the first sheet of a workbook, with empty cells and special characters', async () => {
    const book = zip({
      'xl/worksheets/sheet10.xml': sheet('<row><c><v>other</v></c></row>'),
      'xl/worksheets/sheet2.xml': sheet(
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"/>' +
          '<row r="3"><c r="A3" t="inlineStr"><is><t>0781</t></is></c><c r="B3" s="1"/><c r="C3"><v>42</v></c></row>',
      ),
      'xl/sharedStrings.xml':
        '<sst><si><t>VID</t></si><si><r><t xml:space="preserve">a &amp; </t></r><r><t>"&#x62;"</t></r></si></sst>',
    })
    expect(await textOfFile(new Blob([book]))).toBe('VID\t\t"a & ""b"""\n\n0781\t\t42')
  })

  it('is read as it is if it is text', async () => {
    expect(await textOfFile(new Blob(['\ufeffserial\nA1\n']))).toBe('serial\nA1\n')
  })

  it('is refused if it is damaged, no workbook, or expands too much', async () => {
    const damaged = zip({ 'xl/worksheets/sheet1.xml': sheet('') })
    damaged.fill(0xff, 54, 60)
    for (const [bytes, message] of [
      [Buffer.from('PK\u0003\u0004 broken'), 'cannot be read'],
      [damaged, 'cannot be read'],
      [zip({ 'word/document.xml': 'x' }), 'cannot be read'],
      [zip({ 'xl/worksheets/sheet1.xml': 'x'.repeat(33 * 1024 * 1024) }), 'too large'],
    ] as const)
      await expect(textOfFile(new Blob([bytes]))).rejects.toThrow(message)
  })
})
