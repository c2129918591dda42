import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import PDFDocument from 'pdfkit'

/** A glyph of the font engine below pdfkit; widths are in font units. */
interface EngineGlyph {
  id: number
  advanceWidth: number
  codePoints: number[]
}

/** A font of that engine. These members are missing in pdfkit's types; the exact version pins them. */
export interface EngineFont {
  hasGlyphForCodePoint(codePoint: number): boolean
  glyphForCodePoint(codePoint: number): EngineGlyph
  layout(
    text: string,
    features: undefined,
    script: undefined,
    language: undefined,
    direction: 'ltr' | 'rtl',
  ): { glyphs: EngineGlyph[]; positions: { xAdvance: number; xOffset: number; yOffset: number }[] }
}

/** A font inside one document with the glyphs used so far. */
export interface EmbeddedFont {
  id: string
  font: EngineFont
  scale: number
  subset: { includeGlyph(id: number): number }
  widths: number[]
  unicode: number[][]
  ref(): unknown
}

/** Embeds a font into a document. The file contains only the glyphs in use. */
export const embed = (document: PDFKit.PDFDocument, font: EngineFont | Buffer): EmbeddedFont => {
  document.font(font as Buffer)
  return (document as unknown as { _font: EmbeddedFont })._font
}

/** Creates a document without a page and without the standard fonts, which have Latin letters only. */
export const emptyDocument = (options: PDFKit.PDFDocumentOptions = {}): PDFKit.PDFDocument =>
  new PDFDocument({ autoFirstPage: false, font: '', ...options })

const open = (file: Buffer): EngineFont => embed(emptyDocument(), file).font

/** Unpacks WOFF once: 46 ms for 14 MB. The engine would inflate the tables in JavaScript for each document. */
const unpackWoff = (woff: Buffer): Buffer => {
  const count = woff.readUInt16BE(12)
  const headSize = 12 + 16 * count
  const tables = Array.from({ length: count }, (_, i) => {
    const at = 44 + 20 * i
    const [offset, packed, size] = [4, 8, 12].map((n) => woff.readUInt32BE(at + n)) as [number, number, number]
    const body = woff.subarray(offset, offset + packed)
    return {
      tag: woff.subarray(at, at + 4),
      sum: woff.readUInt32BE(at + 16),
      body: packed < size ? inflateSync(body) : body,
    }
  })
  const font = Buffer.alloc(tables.reduce((size, { body }) => size + Math.ceil(body.length / 4) * 4, headSize))
  // The fields for binary search stay 0, because the engine reads the directory sequentially.
  woff.copy(font, 0, 4, 8)
  font.writeUInt16BE(count, 4)
  let offset = headSize
  tables.forEach(({ tag, sum, body }, i) => {
    const at = 12 + 16 * i
    tag.copy(font, at)
    font.writeUInt32BE(sum, at + 4)
    font.writeUInt32BE(offset, at + 8)
    font.writeUInt32BE(body.length, at + 12)
    body.copy(font, offset)
    offset += Math.ceil(body.length / 4) * 4
  })
  return font
}

/** The shipped fonts (ADR 0010). The fallback covers nearly all of Unicode's Basic Multilingual Plane, and emoji. */
export interface Fonts {
  regular: EngineFont
  bold: EngineFont
  fallback: EngineFont
}

export const openFonts = (): Fonts => {
  const read = (url: string): Buffer => readFileSync(fileURLToPath(url))
  return {
    regular: open(read(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf'))),
    bold: open(read(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf'))),
    fallback: open(
      unpackWoff(read(import.meta.resolve('@fontsource/unifontex/files/unifontex-latin-400-normal.woff'))),
    ),
  }
}
