import { hasRightToLeft, levelsOf, mirror, visualRuns } from './direction.ts'
import { type EmbeddedFont, type EngineFont, embed, type Fonts } from './fonts.ts'
import { visibleText } from './visible-text.ts'

/** A line of text ready to be drawn: operators that show it, for a font size of 1, and how wide it is. */
export interface SetLine {
  /** Content stream between `BT` and `ET`; `{n}` never stands in it. */
  pieces: readonly Piece[]
  /** Width at font size 1. */
  width: number
}

/** What is drawn with one font. */
interface Piece {
  font: EmbeddedFont
  /** Operand and operator: `(…) Tj` or `[…] TJ`. */
  show: string
}

interface Glyph {
  font: EmbeddedFont
  /** Its two bytes inside a literal string, escaped, one character per byte. */
  code: string
  /** Width at font size 1. */
  width: number
}

export type Weight = 'regular' | 'bold'

/** Longest text of a cell that is looked at; what is behind is cut off visibly. */
const maxLength = 2_000
const ellipsis = '…'
const printable = /^[\x20-\x7e]*$/
/** Letters whose form or place depends on their neighbours. */
const needsShaping = (text: string): boolean => hasRightToLeft(text) || /\p{M}/u.test(text)
/** Behind these a line may end; what people compare (ids, addresses) is not torn elsewhere unless it must. */
const breakBehind = /[\s\-/\\,;|&*:.?!_)\]}]|[\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFFEF]/u

const escaped: Readonly<Record<number, string>> = { 10: '\\n', 13: '\\r', 40: '\\(', 41: '\\)', 92: '\\\\' }
const byte = (n: number): string => escaped[n] ?? String.fromCharCode(n)
const codeOf = (id: number): string => byte(id >> 8) + byte(id & 255)

const round = (n: number): number => Math.round(n * 100) / 100

export type TypeSetter = ReturnType<typeof createTypeSetter>

/** Sets text of any script in one document: fonts by character, directions, shapes of Arabic letters, line breaks. */
export const createTypeSetter = (document: PDFKit.PDFDocument, fonts: Fonts) => {
  const fallback = embed(document, fonts.fallback)
  const stacks: Record<Weight, { first: EmbeddedFont; glyphs: Map<number, Glyph> }> = {
    regular: { first: embed(document, fonts.regular), glyphs: new Map() },
    bold: { first: embed(document, fonts.bold), glyphs: new Map() },
  }
  const has = (codePoint: number): boolean =>
    fonts.regular.hasGlyphForCodePoint(codePoint) || fonts.fallback.hasGlyphForCodePoint(codePoint)

  const include = (font: EmbeddedFont, glyph: ReturnType<EngineFont['glyphForCodePoint']>): string => {
    const id = font.subset.includeGlyph(glyph.id)
    font.widths[id] ??= glyph.advanceWidth * font.scale
    font.unicode[id] ??= glyph.codePoints
    return codeOf(id)
  }

  const glyphOf = (weight: Weight, codePoint: number): Glyph => {
    const { first, glyphs } = stacks[weight]
    const known = glyphs.get(codePoint)
    if (known !== undefined) return known
    const font = first.font.hasGlyphForCodePoint(codePoint) ? first : fallback
    const glyph = font.font.glyphForCodePoint(codePoint)
    const made = {
      font,
      code: include(font, { ...glyph, id: glyph.id, advanceWidth: glyph.advanceWidth, codePoints: [codePoint] }),
      width: glyph.advanceWidth / font.font.unitsPerEm,
    }
    glyphs.set(codePoint, made)
    return made
  }

  /** Character by character, as they come. */
  const setPlain = (text: string, weight: Weight): SetLine => {
    const pieces: Piece[] = []
    let font: EmbeddedFont | undefined
    let codes = ''
    let width = 0
    const flush = () => {
      if (font !== undefined) pieces.push({ font, show: `(${codes}) Tj` })
      codes = ''
    }
    for (let i = 0; i < text.length; i++) {
      const codePoint = text.codePointAt(i) as number
      if (codePoint > 0xffff) i++
      const glyph = glyphOf(weight, codePoint)
      if (glyph.font !== font) {
        flush()
        font = glyph.font
      }
      codes += glyph.code
      width += glyph.width
    }
    flush()
    return { pieces, width }
  }

  /** One run of one font and one direction, by the font's own rules. */
  const setShaped = (font: EmbeddedFont, text: string, isToLeft: boolean): { piece: Piece; width: number } => {
    const { glyphs, positions } = font.font.layout(text, undefined, undefined, undefined, isToLeft ? 'rtl' : 'ltr')
    const scale = 1000 / font.font.unitsPerEm
    let show = ''
    let width = 0
    glyphs.forEach((glyph, i) => {
      const { xAdvance, xOffset } = positions[i] as { xAdvance: number; xOffset: number }
      const code = include(font, glyph)
      // Numbers in TJ move to the left, in thousandths of the size.
      if (xOffset !== 0) show += ` ${round(-xOffset * scale)} `
      show += `(${code})`
      const rest = glyph.advanceWidth - xAdvance + xOffset
      if (rest !== 0) show += ` ${round(rest * scale)} `
      width += xAdvance / font.font.unitsPerEm
    })
    return { piece: { font, show: `[${show}] TJ` }, width }
  }

  /** A line with letters that look at their neighbours or run to the left. */
  const setComplex = (characters: readonly string[], levels: readonly number[], weight: Weight): SetLine => {
    const { first } = stacks[weight]
    const runs: { font: EmbeddedFont; level: number; text: string }[] = []
    characters.forEach((character, i) => {
      const level = levels[i] as number
      const drawn = level % 2 === 1 ? mirror(character) : character
      const last = runs.at(-1)
      const isMark = /\p{M}/u.test(drawn)
      const font =
        isMark && last?.font.font.hasGlyphForCodePoint(drawn.codePointAt(0) as number)
          ? last.font
          : glyphOf(weight, drawn.codePointAt(0) as number).font
      if (last !== undefined && last.font === font && last.level === level) last.text += drawn
      else runs.push({ font, level, text: drawn })
    })
    const pieces: Piece[] = []
    let width = 0
    for (const { font, level, text } of visualRuns(runs)) {
      const isToLeft = level % 2 === 1
      if (font === first) {
        const { piece, width: runWidth } = setShaped(font, text, isToLeft)
        pieces.push(piece)
        width += runWidth
      } else {
        const plain = setPlain(isToLeft ? [...text].reverse().join('') : text, weight)
        pieces.push(...plain.pieces)
        width += plain.width
      }
    }
    return { pieces, width }
  }

  const set = (text: string, weight: Weight): SetLine => {
    if (!needsShaping(text)) return setPlain(text, weight)
    const characters = [...text]
    return setComplex(characters, levelsOf(characters), weight)
  }

  const plainWidth = (text: string, weight: Weight): number => {
    let width = 0
    for (let i = 0; i < text.length; i++) {
      const codePoint = text.codePointAt(i) as number
      if (codePoint > 0xffff) i++
      width += glyphOf(weight, codePoint).width
    }
    return width
  }

  /** What may stand on paper of a text. */
  const shown = (text: string): string => {
    if (printable.test(text)) return text.length <= maxLength ? text : `${text.slice(0, maxLength)}${ellipsis}`
    const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}${ellipsis}`
    return visibleText(cut, has)
  }

  /** Width of a shown text at font size 1; never too small by more than shaping makes letters narrower. */
  const widthOf = (text: string, weight: Weight): number =>
    printable.test(text) || !needsShaping(text) ? plainWidth(text, weight) : set(text, weight).width

  /** Ends of the lines of a text: where each begins, as indexes of characters. */
  const breaksOf = (characters: readonly string[], weight: Weight, width: number, maxLines: number): number[] => {
    const starts = [0]
    let used = 0
    let candidate = 0
    for (let i = 0; i < characters.length; i++) {
      const character = characters[i] as string
      const own = glyphOf(weight, character.codePointAt(0) as number).width
      const start = starts.at(-1) as number
      if (used + own > width && i > start) {
        if (starts.length === maxLines) return starts
        const at = candidate > start ? candidate : i
        starts.push(at)
        used = 0
        for (let n = at; n < i; n++) used += glyphOf(weight, (characters[n] as string).codePointAt(0) as number).width
      }
      used += own
      if (breakBehind.test(character)) candidate = i + 1
    }
    return starts
  }

  /** A shown text in lines of at most `width` (at font size 1); what is more than `maxLines` is cut off visibly. */
  const lines = (text: string, weight: Weight, width: number, maxLines: number): SetLine[] => {
    const whole = set(text, weight)
    if (whole.width <= width) return [whole]
    const characters = [...text]
    const isComplex = needsShaping(text)
    const levels = isComplex ? levelsOf(characters) : []
    const starts = breaksOf(characters, weight, width, maxLines)
    const setPart = (from: number, to: number, end = ''): SetLine => {
      const part = characters.slice(from, to)
      return isComplex
        ? setComplex(
            [...part, ...end],
            [...levels.slice(from, to), ...(end === '' ? [] : [levels[to - 1] ?? 0])],
            weight,
          )
        : setPlain(part.join('') + end, weight)
    }
    return starts.map((from, i) => {
      const next = starts[i + 1]
      if (next !== undefined || i + 1 < maxLines) return setPart(from, next ?? characters.length)
      let to = characters.length
      let line = setPart(from, to)
      if (line.width <= width) return line
      // The last line that there is room for: as much as leaves place for the ellipsis.
      to = from
      let used = glyphOf(weight, 0x2026).width
      while (to < characters.length) {
        used += glyphOf(weight, (characters[to] as string).codePointAt(0) as number).width
        if (used > width) break
        to++
      }
      line = setPart(from, to, ellipsis)
      return line
    })
  }

  return {
    shown,
    widthOf,
    lines,
    lineCount: (text: string, weight: Weight, width: number, maxLines: number): number =>
      breaksOf([...text], weight, width, maxLines).length,
  }
}
