import { hasRightToLeft, levelsOf, mirror, visualRuns } from './direction.ts'
import { type EmbeddedFont, type EngineFont, embed, type Fonts } from './fonts.ts'
import { visibleText } from './visible-text.ts'

/** A line of text ready to draw. */
export interface SetLine {
  /** Pieces from left to right. */
  pieces: readonly Piece[]
  /** Width at font size 1. */
  width: number
}

/** A part of a line in one font. */
interface Piece {
  font: EmbeddedFont
  /** Operand and operator: `(…) Tj` or `[…] TJ`. */
  show: string
}

interface Glyph {
  font: EmbeddedFont
  /** The two bytes of the glyph in a literal string, escaped, one character per byte. */
  code: string
  /** Width at font size 1. */
  width: number
  mayBreakBehind: boolean
}

export type Weight = 'regular' | 'bold'

/** Longest text of a cell; the rest is visibly cut off. */
const maxLength = 2_000
const ellipsis = '…'
const printable = /^[\x20-\x7e]*$/
/** Returns whether letters depend on their neighbours in form or position. */
const needsShaping = (text: string): boolean => !printable.test(text) && (hasRightToLeft(text) || /\p{M}/u.test(text))
/** A line may end after these; ids and addresses, which people compare, break elsewhere only if they must. */
const breakBehind = /[\s\-/\\,;|&*:.?!_)\]}]|[\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFFEF]/u

const escaped: Readonly<Record<number, string>> = { 10: '\\n', 13: '\\r', 40: '\\(', 41: '\\)', 92: '\\\\' }
const byte = (n: number): string => escaped[n] ?? String.fromCharCode(n)
const codeOf = (id: number): string => byte(id >> 8) + byte(id & 255)

const round = (n: number): number => Math.round(n * 100) / 100

/** Creates a function that returns the printable form of a text. */
export const createShown = (fonts: Fonts) => {
  const has = (codePoint: number): boolean =>
    fonts.regular.hasGlyphForCodePoint(codePoint) || fonts.fallback.hasGlyphForCodePoint(codePoint)
  return (text: string): string => {
    if (printable.test(text)) return text.length <= maxLength ? text : `${text.slice(0, maxLength)}${ellipsis}`
    const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}${ellipsis}`
    return visibleText(cut, has)
  }
}

export type TypeSetter = ReturnType<typeof createTypeSetter>

/** Sets text of any script in one document: fonts by character, directions, Arabic shaping and line breaks. */
export const createTypeSetter = (document: PDFKit.PDFDocument, fonts: Fonts) => {
  const fallback = embed(document, fonts.fallback)
  const stackOf = (font: EngineFont) => ({
    first: embed(document, font),
    glyphs: new Map<number, Glyph>(),
  })
  const stacks: Record<Weight, ReturnType<typeof stackOf>> = {
    regular: stackOf(fonts.regular),
    bold: stackOf(fonts.bold),
  }

  function include(font: EmbeddedFont, glyph: ReturnType<EngineFont['glyphForCodePoint']>): number {
    const id = font.subset.includeGlyph(glyph.id)
    font.widths[id] ??= glyph.advanceWidth * font.scale
    font.unicode[id] ??= glyph.codePoints
    return id
  }

  function glyphOf(weight: Weight, codePoint: number): Glyph {
    const { first, glyphs } = stacks[weight]
    const known = glyphs.get(codePoint)
    if (known !== undefined) return known
    const font = first.font.hasGlyphForCodePoint(codePoint) ? first : fallback
    const glyph = font.font.glyphForCodePoint(codePoint)
    const id = include(font, { id: glyph.id, advanceWidth: glyph.advanceWidth, codePoints: [codePoint] })
    const made = {
      font,
      code: codeOf(id),
      width: (glyph.advanceWidth * font.scale) / 1000,
      mayBreakBehind: breakBehind.test(String.fromCodePoint(codePoint)),
    }
    glyphs.set(codePoint, made)
    return made
  }

  /** Sets text character by character, without shaping. */
  function setPlain(text: string, weight: Weight): SetLine {
    const pieces: Piece[] = []
    let font: EmbeddedFont | undefined
    let codes = ''
    let width = 0
    function flush() {
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

  /** Sets one run of one font and direction by the font's shaping rules. */
  function setShaped(font: EmbeddedFont, text: string, isToLeft: boolean): { piece: Piece; width: number } {
    const { glyphs, positions } = font.font.layout(text, undefined, undefined, undefined, isToLeft ? 'rtl' : 'ltr')
    const { scale } = font
    let show = ''
    let width = 0
    glyphs.forEach((glyph, i) => {
      const { xAdvance, xOffset } = positions[i] as { xAdvance: number; xOffset: number }
      const code = codeOf(include(font, glyph))
      // TJ moves to the left, in thousandths of the font size.
      if (xOffset !== 0) show += ` ${round(-xOffset * scale)} `
      show += `(${code})`
      const rest = glyph.advanceWidth - xAdvance + xOffset
      if (rest !== 0) show += ` ${round(rest * scale)} `
      width += (xAdvance * scale) / 1000
    })
    return { piece: { font, show: `[${show}] TJ` }, width }
  }

  /** Sets a line that needs shaping or runs to the left. */
  function setComplex(characters: readonly string[], levels: readonly number[], weight: Weight): SetLine {
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

  function set(text: string, weight: Weight): SetLine {
    if (!needsShaping(text)) return setPlain(text, weight)
    const characters = [...text]
    return setComplex(characters, levelsOf(characters), weight)
  }

  function plainWidth(text: string, weight: Weight): number {
    let width = 0
    for (let i = 0; i < text.length; i++) {
      const codePoint = text.codePointAt(i) as number
      if (codePoint > 0xffff) i++
      width += glyphOf(weight, codePoint).width
    }
    return width
  }

  /** Returns the width of a visible text at font size 1, without shaping, which only makes letters narrower. */
  const widthOf = (text: string, weight: Weight): number =>
    needsShaping(text) ? set(text, weight).width : plainWidth(text, weight)

  /** Returns the start of each line of a text. */
  function breaksOf(text: string, weight: Weight, width: number, maxLines: number): number[] {
    const starts = [0]
    let start = 0
    let used = 0
    /** Position after the last possible line end, and the width of the line before it. */
    let candidate = 0
    let usedThere = 0
    for (let i = 0; i < text.length; i++) {
      const at = i
      const codePoint = text.codePointAt(i) as number
      if (codePoint > 0xffff) i++
      const { width: own, mayBreakBehind } = glyphOf(weight, codePoint)
      if (used + own > width && at > start) {
        if (starts.length === maxLines) return starts
        const isTorn = candidate <= start
        start = isTorn ? at : candidate
        used = isTorn ? 0 : used - usedThere
        starts.push(start)
      }
      used += own
      if (mayBreakBehind) {
        candidate = i + 1
        usedThere = used
      }
    }
    return starts
  }

  /** Cuts a text so that the ellipsis fits. */
  function cutTo(text: string, weight: Weight, width: number): string {
    let used = glyphOf(weight, ellipsis.charCodeAt(0)).width
    for (let i = 0; i < text.length; i++) {
      const codePoint = text.codePointAt(i) as number
      used += glyphOf(weight, codePoint).width
      if (used > width) return text.slice(0, i)
      if (codePoint > 0xffff) i++
    }
    return text
  }

  /** Breaks a visible text into lines of at most `width` (at font size 1); beyond `maxLines` it is visibly cut off. */
  function lines(text: string, weight: Weight, width: number, maxLines: number): SetLine[] {
    if (needsShaping(text) || plainWidth(text, weight) <= width) {
      const whole = set(text, weight)
      if (whole.width <= width) return [whole]
    }
    const starts = breaksOf(text, weight, width, maxLines)
    return starts.map((from, i) => {
      const part = text.slice(from, starts[i + 1])
      const line = set(part, weight)
      const isLast = i + 1 === maxLines
      return isLast && line.width > width ? set(cutTo(part, weight, width) + ellipsis, weight) : line
    })
  }

  return {
    shown: createShown(fonts),
    needsShaping,
    widthOf,
    lines,
    lineCount: (text: string, weight: Weight, width: number, maxLines: number): number =>
      widthOf(text, weight) <= width ? 1 : breaksOf(text, weight, width, maxLines).length,
  }
}
