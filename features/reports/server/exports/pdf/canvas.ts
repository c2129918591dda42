import { deflateSync } from 'node:zlib'
import type { Bytes } from './bytes.ts'
import type { EmbeddedFont } from './fonts.ts'
import type { SetLine } from './type-setter.ts'

const hundredths = (value: number): number => Math.round(value * 100)
const n = (value: number): string => String(hundredths(value) / 100)

/** Buffers of a canvas. The pages of a document share them, one after the other. */
export interface CanvasBytes {
  texts: Bytes
  rules: Bytes
}

/**
 * Builds the operators of one page in PDF's text form, downwards from the top left. In a tagged file, what belongs to no
 * element is marked as an artifact.
 */
export const createCanvas = (height: number, isTagged: boolean, { texts, rules }: CanvasBytes) => {
  // Text is flipped back once; each line then starts relative to the previous one.
  texts.text('BT\n1 0 0 -1 0 0 Tm\n')
  rules.text('0.8 G 0.4 w\n')
  let pictures = ''
  const fonts = new Map<string, EmbeddedFont>()
  let current: EmbeddedFont | undefined
  let currentSize = 0
  let [atX, atY] = [0, 0]
  return {
    fonts,
    text: (line: SetLine, size: number, x: number, baseline: number): void => {
      if (line.pieces.length === 0) return
      const [toX, toY] = [hundredths(x), hundredths(baseline)]
      texts.hundredths(toX - atX)
      texts.text(' ')
      texts.hundredths(atY - toY)
      texts.text(' Td\n')
      atX = toX
      atY = toY
      for (const piece of line.pieces) {
        const { font } = piece
        if (font !== current || size !== currentSize) {
          texts.text(`/${font.id} ${size} Tf\n`)
          current = font
          currentSize = size
          fonts.set(font.id, font)
        }
        if ('ascii' in piece) {
          texts.glyphs(piece.ascii, piece.ids)
          texts.text(' Tj\n')
        } else texts.text(`${piece.show}\n`)
      }
    },
    /** Starts the texts of an element, or of an artifact without a mark. */
    open: (role: string, mark: number): void => {
      if (isTagged) texts.text(mark < 0 ? '/Artifact<</Type/Pagination>>BDC\n' : `/${role}<</MCID ${mark}>>BDC\n`)
    },
    close: (): void => {
      if (isTagged) texts.text('EMC\n')
    },
    rule: (from: number, to: number, y: number, gray = 0.8): void => {
      if (gray !== 0.8) rules.text(`${gray} G `)
      const level = hundredths(y)
      rules.hundredths(hundredths(from))
      rules.text(' ')
      rules.hundredths(level)
      rules.text(' m ')
      rules.hundredths(hundredths(to))
      rules.text(' ')
      rules.hundredths(level)
      rules.text(' l S\n')
      if (gray !== 0.8) rules.text('0.8 G\n')
    },
    /** Draws graphics in a box that is one unit high, with its origin at the top left. */
    picture: (operators: string, x: number, y: number, scale: number, mark: number): void => {
      const body = `q ${n(scale)} 0 0 ${n(scale)} ${n(x)} ${n(y)} cm\n${operators}\nQ\n`
      pictures += isTagged ? `/Figure<</MCID ${mark}>>BDC\n${body}EMC\n` : body
    },
    /** Uses the fastest compression level, which takes a third of the default's time. */
    end: (): Buffer => {
      texts.text('ET')
      const [before, after] = isTagged ? ['/Artifact BMC\n', 'EMC\n'] : ['', '']
      const content = Buffer.concat([
        Buffer.from(`1 0 0 -1 0 ${n(height)} cm\n${pictures}${before}`, 'latin1'),
        rules.take(),
        Buffer.from(`${after}0 g\n`, 'latin1'),
        texts.take(),
      ])
      return deflateSync(content, { level: 1, memLevel: 6, windowBits: 13 })
    },
  }
}
