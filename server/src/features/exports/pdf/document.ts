import { fitColumns } from './column-widths.ts'
import { type EmbeddedFont, emptyDocument, type Fonts } from './fonts.ts'
import { createTypeSetter, type SetLine, type TypeSetter, type Weight } from './type-setter.ts'

/** A table to print. All texts may come from outside. */
export interface TableJob {
  title: string
  /** Lines below the title of the first page; `{rows}` in the last becomes the number of rows. */
  cover: readonly string[]
  columns: readonly { key: string; isNumber: boolean }[]
  /** When it was asked for, in milliseconds. */
  at: number
}

const margin = 28
const padding = 3
const cellSize = 7
const titleSize = 14
const coverSize = 8
const footSize = 7
/** Distance of lines, in font sizes. */
const leading = 1.25
/** Lines of a cell; what is longer ends in an ellipsis. */
const maxLines = 8
/** Where the baseline lies below the top of a line, in font sizes. */
const ascent = 0.93

const n = (value: number): string => String(Math.round(value * 100) / 100)

/** Content of one page: operators in PDF's text form, downwards from the top left corner as pdfkit turns the page. */
const createCanvas = () => {
  const parts: string[] = []
  const fonts = new Map<string, EmbeddedFont>()
  let current = ''
  return {
    text: (line: SetLine, size: number, x: number, baseline: number): void => {
      if (line.pieces.length === 0) return
      parts.push(`1 0 0 -1 ${n(x)} ${n(baseline)} Tm`)
      for (const { font, show } of line.pieces) {
        const name = `/${font.id} ${size} Tf`
        if (name !== current) {
          parts.push(name)
          current = name
          fonts.set(font.id, font)
        }
        parts.push(show)
      }
    },
    end: (rules: readonly string[]): { content: string; fonts: ReadonlyMap<string, EmbeddedFont> } => ({
      content: `0.8 G 0.4 w\n${rules.join('\n')}\n0 g\nBT\n${parts.join('\n')}\nET`,
      fonts,
    }),
  }
}

type Canvas = ReturnType<typeof createCanvas>

const rule = (from: number, to: number, y: number): string => `${n(from)} ${n(y)} m ${n(to)} ${n(y)} l S`

/** Widest cell of each column, by shown texts at font size 1. */
const widestCells = (type: TypeSetter, rows: readonly (readonly string[])[], count: number): number[] => {
  const widest = new Array<number>(count).fill(0)
  for (const row of rows)
    for (let i = 0; i < count; i++) {
      const width = type.widthOf(row[i] as string, 'regular')
      if (width > (widest[i] as number)) widest[i] = width
    }
  return widest
}

export interface Printing {
  /** Takes the file piece by piece. */
  emit(bytes: Buffer): void
  /** True once nobody waits for the file any more. */
  isCancelled(): boolean
}

/** Draws rows under a repeated head; the file leaves page by page. */
export const printTable = (fonts: Fonts, job: TableJob, rows: string[][], { emit, isCancelled }: Printing): void => {
  const pdf = emptyDocument({
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    info: { Title: job.title, Creator: 'Portcullis', Producer: 'Portcullis', CreationDate: new Date(job.at) },
  })
  const type = createTypeSetter(pdf, fonts)
  const drain = () => {
    for (let bytes = pdf.read() as Buffer | null; bytes !== null; bytes = pdf.read() as Buffer | null) emit(bytes)
  }
  for (const row of rows) for (let i = 0; i < row.length; i++) row[i] = type.shown(row[i] as string)

  const heads = job.columns.map(({ key }) => type.widthOf(key, 'bold'))
  const widest = widestCells(type, rows, job.columns.length)
  const { paper, widths } = fitColumns(
    heads.map((head, i) => ({
      head: head * cellSize + 2 * padding + 1,
      widest: (widest[i] as number) * cellSize + 2 * padding + 1,
    })),
    2 * margin,
  )
  /** Room for text in each column, at font size 1. */
  const rooms = widths.map((width) => (width - 2 * padding) / cellSize)
  const broken = rooms.flatMap((room, i) => ((widest[i] as number) > room ? [i] : []))
  const lineHeight = cellSize * leading
  const heightOf = (row: readonly string[]): number => {
    let count = 1
    for (const i of broken)
      count = Math.max(count, type.lineCount(row[i] as string, 'regular', rooms[i] as number, maxLines))
    return count * lineHeight + padding
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

  // Where each page begins has to be known before the first is drawn: it says how many there are.
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

  const drawLines = (canvas: Canvas, lines: readonly SetLine[], size: number, x: number, top: number): number => {
    lines.forEach((line, i) => {
      canvas.text(line, size, x, top + (i * leading + ascent) * size)
    })
    return top + lines.length * size * leading
  }
  const drawRow = (canvas: Canvas, row: readonly string[], weight: Weight, top: number): void => {
    row.forEach((text, i) => {
      if (text === '') return
      const lines = type.lines(text, weight, rooms[i] as number, maxLines)
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

  const head = job.columns.map(({ key }) => key)
  const stamp = `${job.title}, ${new Date(job.at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  starts.forEach((start, number) => {
    if (isCancelled()) return
    const canvas = createCanvas()
    const rules: string[] = []
    let top = margin
    if (number === 0) {
      top = drawLines(canvas, title, titleSize, margin + padding, top)
      drawLines(canvas, cover, coverSize, margin + padding, top)
      top = margin + coverHeight
    }
    drawRow(canvas, head, 'bold', top)
    top += headHeight
    rules.push(`0.3 G ${rule(margin, right, top - 1)} 0.8 G`)
    for (let i = start; i < (starts[number + 1] ?? rows.length); i++) {
      drawRow(canvas, rows[i] as string[], 'regular', top + padding / 2)
      top += heights[i] as number
      rules.push(rule(margin, right, top))
    }
    const foot = paper.height - margin - footSize * leading
    const [left] = type.lines(type.shown(stamp), 'regular', (paper.width / 2 - margin) / footSize, 1)
    const [page] = type.lines(`Page ${number + 1} of ${starts.length}`, 'regular', 200, 1)
    if (left !== undefined) canvas.text(left, footSize, margin + padding, foot + ascent * footSize)
    if (page !== undefined)
      canvas.text(page, footSize, paper.width - margin - padding - page.width * footSize, foot + ascent * footSize)

    pdf.addPage({ size: [paper.width, paper.height], margin: 0 })
    const { content, fonts: used } = canvas.end(rules)
    for (const [id, font] of used) (pdf.page as unknown as { fonts: Record<string, unknown> }).fonts[id] = font.ref()
    pdf.addContent(Buffer.from(content, 'latin1'))
    drain()
  })
  pdf.end()
  drain()
}
