import { deflateSync } from 'node:zlib'
import type { EmbeddedFont } from './fonts.ts'
import type { SetLine } from './type-setter.ts'

const hundredths = (value: number): number => Math.round(value * 100)
const n = (value: number): string => String(hundredths(value) / 100)

/**
 * Builds the operators of one page in PDF's text form, downwards from the top left. In a tagged file, what belongs to no
 * element is marked as an artifact.
 */
export const createCanvas = (height: number, isTagged: boolean) => {
  // Text is flipped back once; each line then starts relative to the previous one.
  let texts = 'BT\n1 0 0 -1 0 0 Tm\n'
  let rules = '0.8 G 0.4 w\n'
  let pictures = ''
  const fonts = new Map<string, EmbeddedFont>()
  let current = ''
  let [atX, atY] = [0, 0]
  return {
    fonts,
    text: (line: SetLine, size: number, x: number, baseline: number): void => {
      if (line.pieces.length === 0) return
      const [toX, toY] = [hundredths(x), hundredths(baseline)]
      texts += `${(toX - atX) / 100} ${(atY - toY) / 100} Td\n`
      atX = toX
      atY = toY
      for (const { font, show } of line.pieces) {
        const name = `/${font.id} ${size} Tf\n`
        if (name !== current) {
          texts += name
          current = name
          fonts.set(font.id, font)
        }
        texts += `${show}\n`
      }
    },
    /** Starts the texts of an element, or of an artifact without a mark. */
    open: (role: string, mark: number): void => {
      if (isTagged) texts += mark < 0 ? '/Artifact<</Type/Pagination>>BDC\n' : `/${role}<</MCID ${mark}>>BDC\n`
    },
    close: (): void => {
      if (isTagged) texts += 'EMC\n'
    },
    rule: (from: number, to: number, y: number, gray = 0.8): void => {
      const line = `${n(from)} ${n(y)} m ${n(to)} ${n(y)} l S\n`
      rules += gray === 0.8 ? line : `${gray} G ${line}0.8 G\n`
    },
    /** Draws graphics in a box that is one unit high, with its origin at the top left. */
    picture: (operators: string, x: number, y: number, scale: number, mark: number): void => {
      const body = `q ${n(scale)} 0 0 ${n(scale)} ${n(x)} ${n(y)} cm\n${operators}\nQ\n`
      pictures += isTagged ? `/Figure<</MCID ${mark}>>BDC\n${body}EMC\n` : body
    },
    /** Uses the fastest compression level, which takes a third of the default's time. */
    end: (): Buffer => {
      const lines = isTagged ? `/Artifact BMC\n${rules}EMC\n` : rules
      const content = `1 0 0 -1 0 ${n(height)} cm\n${pictures}${lines}0 g\n${texts}ET`
      return deflateSync(Buffer.from(content, 'latin1'), { level: 1, memLevel: 6, windowBits: 13 })
    },
  }
}
