import { deflateSync } from 'node:zlib'
import { type CellForm, cellText } from '../pdf-labels.ts'
import { fitColumns } from './column-widths.ts'
import { type EmbeddedFont, emptyDocument, type Fonts } from './fonts.ts'
import { createTypeSetter, type SetLine, type TypeSetter, type Weight } from './type-setter.ts'

/** A table to print. All texts may come from outside the server. */
export interface TableJob {
  title: string
  /** Lines below the title on the first page; `{rows}` in the last becomes the number of rows. */
  cover: readonly string[]
  columns: readonly { heading: string; isNumber: boolean; form: CellForm }[]
  /** Forces A4 paper, however wide the columns are. */
  isA4?: boolean
  /** Time of the request, in milliseconds. */
  at: number
}

const margin = 28
const padding = 3
const cellSize = 7
const titleSize = 14
const coverSize = 8
const footSize = 7
/** Line height, in font sizes. */
const leading = 1.25
/** Lines per cell; a longer text ends in an ellipsis. */
const maxLines = 8
/** Distance from the top of a line to its baseline, in font sizes. */
const ascent = 0.93

const hundredths = (value: number): number => Math.round(value * 100)
const n = (value: number): string => String(hundredths(value) / 100)

/** Builds the operators of one page in PDF's text form, downwards from the top left, as pdfkit flips the page. */
const createCanvas = () => {
  // Text is flipped back once; each line then starts relative to the previous one.
  let texts = 'BT\n1 0 0 -1 0 0 Tm\n'
  let rules = '0.8 G 0.4 w\n'
  const fonts = new Map<string, EmbeddedFont>()
  let current = ''
  let [atX, atY] = [0, 0]
  return {
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
    rule: (from: number, to: number, y: number, gray = 0.8): void => {
      const line = `${n(from)} ${n(y)} m ${n(to)} ${n(y)} l S\n`
      rules += gray === 0.8 ? line : `${gray} G ${line}0.8 G\n`
    },
    /** Uses the fastest compression level, which takes a third of the default's time. */
    end: (): { content: Buffer; fonts: ReadonlyMap<string, EmbeddedFont> } => ({
      content: deflateSync(Buffer.from(`${rules}0 g\n${texts}ET`, 'latin1'), { level: 1 }),
      fonts,
    }),
  }
}

type Canvas = ReturnType<typeof createCanvas>

/** Returns the width of each cell at font size 1, row by row, for visible texts. */
const cellWidths = (type: TypeSetter, rows: readonly (readonly string[])[], count: number): Float32Array => {
  const widths = new Float32Array(rows.length * count)
  rows.forEach((row, r) => {
    for (let i = 0; i < count; i++) widths[r * count + i] = type.widthOf(row[i] as string, 'regular')
  })
  return widths
}

/** Members of a page missing in pdfkit's types. */
interface PageInside {
  fonts: Record<string, unknown>
  content: unknown
  dictionary: { data: { Contents: unknown } }
}

export interface Printing {
  /** Receives the file in chunks. */
  emit(bytes: Buffer): void
  /** Returns true once the reader has left. */
  isCancelled(): boolean
}

/** Prints rows under a repeated header and emits the file page by page. */
export const printTable = (fonts: Fonts, job: TableJob, rows: string[][], { emit, isCancelled }: Printing): void => {
  const pdf = emptyDocument({
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    info: { Title: job.title, Creator: 'Portcullis', Producer: 'Portcullis', CreationDate: new Date(job.at) },
  })
  const type = createTypeSetter(pdf, fonts)
  function drain() {
    for (let bytes = pdf.read() as Buffer | null; bytes !== null; bytes = pdf.read() as Buffer | null) emit(bytes)
  }
  const forms = job.columns.map(({ form }) => form)
  for (const row of rows)
    for (let i = 0; i < row.length; i++) row[i] = type.shown(cellText(forms[i] ?? 'plain', row[i] as string))

  const heads = job.columns.map(({ heading }) => type.widthOf(heading, 'bold'))
  const count = job.columns.length
  const cells = cellWidths(type, rows, count)
  const widest = new Array<number>(count).fill(0)
  for (let at = 0; at < cells.length; at++)
    if ((cells[at] as number) > (widest[at % count] as number)) widest[at % count] = cells[at] as number
  const { paper, widths } = fitColumns(
    heads.map((head, i) => ({
      head: head * cellSize + 2 * padding + 1,
      widest: (widest[i] as number) * cellSize + 2 * padding + 1,
    })),
    2 * margin,
    job.isA4,
  )
  /** Text width of each column, at font size 1. */
  const rooms = widths.map((width) => (width - 2 * padding) / cellSize)
  const broken = rooms.flatMap((room, i) => ((widest[i] as number) > room ? [i] : []))
  const lineHeight = cellSize * leading
  function heightOf(row: readonly string[], number: number): number {
    let lines = 1
    for (const i of broken) {
      const room = rooms[i] as number
      if ((cells[number * count + i] as number) > room)
        lines = Math.max(lines, type.lineCount(row[i] as string, 'regular', room, maxLines))
    }
    return lines * lineHeight + padding
  }

  const lefts: number[] = []
  widths.reduce((left, width) => {
    lefts.push(left)
    return left + width
  }, margin)
  const right = margin + widths.reduce((sum, width) => sum + width, 0)

  const setBlock = (texts: readonly string[], size: number, weight: Weight): SetLine[] =>
    texts.flatMap((text) => type.lines(type.shown(text), weight, (paper.width - 2 * margin) / size, 6))
  const title = setBlock([job.title], titleSize, 'bold')
  const cover = setBlock(
    job.cover.map((line) =>
      line.replace('{rows}', `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}`),
    ),
    coverSize,
    'regular',
  )
  const coverHeight = title.length * titleSize * leading + cover.length * coverSize * leading + 10
  const headHeight = lineHeight + padding
  const bottom = paper.height - margin - footSize * leading - 4

  // Pagination comes before drawing, because every page shows the number of pages.
  const heights = rows.map(heightOf)
  const starts = [0]
  let y = margin + coverHeight + headHeight
  heights.forEach((height, i) => {
    if (y + height > bottom && i > (starts.at(-1) as number)) {
      starts.push(i)
      y = margin + headHeight
    }
    y += height
  })

  function drawLines(canvas: Canvas, lines: readonly SetLine[], size: number, x: number, top: number): number {
    lines.forEach((line, i) => {
      canvas.text(line, size, x, top + (i * leading + ascent) * size)
    })
    return top + lines.length * size * leading
  }
  /** Broken lines of cells by column: most columns repeat their texts. */
  const known = job.columns.map(() => new Map<string, SetLine[]>())
  function linesOf(column: number, text: string): SetLine[] {
    const lines = known[column]?.get(text) ?? type.lines(text, 'regular', rooms[column] as number, maxLines)
    if ((known[column]?.size ?? 0) >= 256) known[column]?.clear()
    known[column]?.set(text, lines)
    return lines
  }
  function drawRow(canvas: Canvas, row: readonly string[], weight: Weight, top: number): void {
    row.forEach((text, i) => {
      if (text === '') return
      const lines = weight === 'regular' ? linesOf(i, text) : type.lines(text, weight, rooms[i] as number, maxLines)
      const left = (lefts[i] as number) + padding
      if (job.columns[i]?.isNumber === true)
        for (const [at, line] of lines.entries())
          canvas.text(
            line,
            cellSize,
            left + ((rooms[i] as number) - line.width) * cellSize,
            top + (at * leading + ascent) * cellSize,
          )
      else drawLines(canvas, lines, cellSize, left, top)
    })
  }

  const head = job.columns.map(({ heading }) => heading)
  const stamp = `${job.title}, ${new Date(job.at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  starts.forEach((start, number) => {
    if (isCancelled()) return
    const canvas = createCanvas()
    let top = margin
    if (number === 0) {
      top = drawLines(canvas, title, titleSize, margin + padding, top)
      drawLines(canvas, cover, coverSize, margin + padding, top)
      top = margin + coverHeight
    }
    drawRow(canvas, head, 'bold', top)
    top += headHeight
    canvas.rule(margin, right, top - 1, 0.3)
    for (let i = start; i < (starts[number + 1] ?? rows.length); i++) {
      drawRow(canvas, rows[i] as string[], 'regular', top + padding / 2)
      top += heights[i] as number
      canvas.rule(margin, right, top)
    }
    const foot = paper.height - margin - footSize * leading
    const [left] = type.lines(type.shown(stamp), 'regular', (paper.width / 2 - margin) / footSize, 1)
    const [count] = type.lines(`Page ${number + 1} of ${starts.length}`, 'regular', 200, 1)
    if (left !== undefined) canvas.text(left, footSize, margin + padding, foot + ascent * footSize)
    if (count !== undefined)
      canvas.text(count, footSize, paper.width - margin - padding - count.width * footSize, foot + ascent * footSize)

    pdf.addPage({ size: [paper.width, paper.height], margin: 0 })
    const { content, fonts: used } = canvas.end()
    const page = pdf.page as unknown as PageInside
    for (const [id, font] of used) page.fonts[id] = font.ref()
    // Replaces pdfkit's own stream, which would be compressed with the slowest level.
    const stream = pdf.ref({ Filter: 'FlateDecode' })
    page.dictionary.data.Contents = [page.content, stream]
    stream.end(content)
    drain()
  })
  pdf.end()
  drain()
}
