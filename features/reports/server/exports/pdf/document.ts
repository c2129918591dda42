import { once } from 'node:events'
import { escapeHtml } from '@portcullis/platform/server/html.ts'
import { maxTaggedRows } from '#features/contract.ts'
import { type CellFormat, printedText, utcText } from '../cell-text.ts'
import { emptyDocument, type Fonts } from './fonts.ts'
import { createLogo, type Logo } from './logo.ts'
import { type Band, layoutColumns } from './page-layout.ts'
import { createPen } from './pen.ts'
import { createSummary, type SummaryColumn } from './summary.ts'
import { createShown, createTypeSetter, type SetLine, type TypeSetter } from './type-setter.ts'

/** A table to print. All texts may come from outside the server. */
export interface TableJob {
  title: string
  /** Lines below the title on the first page. */
  cover: readonly string[]
  /** Time and person, before the number of rows. */
  made: string
  columns: readonly ({ heading: string; isNumber: boolean } & CellFormat)[]
  /** Columns whose values the first page counts. Each row ends with their cells, which are not printed. */
  summary: readonly SummaryColumn[]
  /** Logo as a PNG data URI; empty: the logo of the product. */
  logo: string
  /** Time of the request, in milliseconds. */
  at: number
}

const margin = 28
const padding = 3
const cellSize = 7
const titleSize = 14
const coverSize = 8
const footSize = 7
const logoHeight = 26
const logoWidth = 130
/** Line height, in font sizes. */
const leading = 1.25
/** Lines per cell; a longer text ends in an ellipsis. */
const maxLines = 8
/** Distance from the top of a line to its baseline, in font sizes. */
const ascent = 0.93
const lineHeight = cellSize * leading

const untagged = `Not tagged for assistive technology, because it has more than ${maxTaggedRows.toLocaleString('en')} rows`

export interface Printing {
  /** Receives the file in chunks. */
  emit(bytes: Buffer): void
  /** Returns true once the reader has left. */
  isCancelled(): boolean
}

/** Lines of a heading. */
const maxHeadLines = 3

/** Returns the least width of a heading on a few lines without breaking a word, at font size 1. */
const brokenWidth = (type: TypeSetter, heading: string): number => {
  let room = Math.max(...heading.split(/(?<= )/).map((word) => type.widthOf(word, 'bold')))
  while (type.lineCount(heading, 'bold', room, maxHeadLines + 1) > maxHeadLines) room += 0.1
  return room
}

/** Measures the rows: the layout of the columns, and the height of each row. */
const measure = (type: TypeSetter, job: TableJob, rows: readonly (readonly string[])[]) => {
  const count = job.columns.length
  /** Width of each cell at font size 1, row by row. */
  const cells = new Float32Array(rows.length * count)
  const widest = new Array<number>(count).fill(0)
  rows.forEach((row, r) => {
    for (let i = 0; i < count; i++) {
      const width = type.widthOf(row[i] as string, 'regular')
      cells[r * count + i] = width
      widest[i] = Math.max(widest[i] as number, width)
    }
  })
  const layout = layoutColumns(
    job.columns.map(({ heading }, i) => ({
      head: type.widthOf(heading, 'bold') * cellSize + 2 * padding + 1,
      brokenHead: brokenWidth(type, heading) * cellSize + 2 * padding + 1,
      widest: (widest[i] as number) * cellSize + 2 * padding + 1,
    })),
    2 * margin,
  )
  /** Text width of each column at font size 1: the smallest one if it is repeated. */
  const rooms = new Array<number>(count).fill(Number.POSITIVE_INFINITY)
  for (const { columns, widths } of layout.bands)
    columns.forEach((column, i) => {
      rooms[column] = Math.min(rooms[column] as number, ((widths[i] as number) - 2 * padding) / cellSize)
    })
  const broken = rooms.flatMap((room, i) => ((widest[i] as number) > room ? [i] : []))
  const heights = rows.map((row, number) => {
    let lines = 1
    for (const i of broken) {
      const room = rooms[i] as number
      if ((cells[number * count + i] as number) > room)
        lines = Math.max(lines, type.lineCount(row[i] as string, 'regular', room, maxLines))
    }
    return lines * lineHeight + padding
  })
  const heads = job.columns.map(({ heading }, i) => type.lines(heading, 'bold', rooms[i] as number, maxHeadLines))
  const headHeight = Math.max(...heads.map(({ length }) => length)) * lineHeight + padding
  return { layout, rooms, heights, heads, headHeight }
}

/** The first page's head: the logo, the title and the lines below. */
const setHead = (type: TypeSetter, job: TableJob, lines: readonly string[], logo: Logo, width: number) => {
  const scale = Math.min(logoHeight, logoWidth / logo.width)
  const titleLeft = logo.width * scale + 8
  const set = (text: string, size: number, weight: 'regular' | 'bold', room: number): SetLine[] =>
    type.lines(type.shown(text), weight, room / size, 6)
  const title = set(job.title, titleSize, 'bold', width - titleLeft)
  const paragraphs = lines.map((line) => set(line, coverSize, 'regular', width))
  const titleHeight = Math.max(scale, title.length * titleSize * leading) + 4
  const count = paragraphs.reduce((sum, { length }) => sum + length, 0)
  return { scale, titleLeft, title, paragraphs, titleHeight, height: titleHeight + count * coverSize * leading + 8 }
}

/** Returns the first row of each page. Pagination comes before drawing, because every page shows the number of pages. */
const paginate = (heights: readonly number[], head: number, headHeight: number, bottom: number): number[] => {
  const starts = [0]
  let y = margin + head + headHeight
  heights.forEach((height, i) => {
    if (y + height > bottom && i > (starts.at(-1) as number)) {
      starts.push(i)
      y = margin + headHeight
    }
    y += height
  })
  return starts
}

const bandText = (bands: readonly Band[], number: number, count: number): string => {
  if (bands.length === 1) return ''
  const own = (bands[number] as Band).columns.filter((column) => number === 0 || column > 0)
  return `, columns ${(own[0] as number) + 1} to ${(own.at(-1) as number) + 1} of ${count}`
}

const leftsOf = ({ widths }: Band): number[] => {
  let left = margin
  return widths.map((width) => {
    left += width
    return left - width
  })
}

export type Cells = ReturnType<typeof createCells>

/** Makes the cells of a table printable while its rows arrive, and counts their values for the first page. */
export const createCells = (fonts: Fonts, job: Pick<TableJob, 'columns' | 'summary'>) => {
  const shown = createShown(fonts)
  const summary = createSummary(job.summary)
  const rows: string[][] = []
  const { columns } = job
  return {
    rows,
    summary,
    add: (row: string[]): void => {
      summary.add(row, columns.length)
      row.length = columns.length
      columns.forEach((column, i) => {
        row[i] = shown(printedText(column, row[i] ?? ''))
      })
      rows.push(row)
    },
  }
}

/** Escapes the title in the metadata, which the library writes as XML in a member that its types leave out. */
const escapeMetadata = (pdf: PDFKit.PDFDocument): void => {
  const inside = pdf as unknown as { _addInfo(): void }
  const addInfo = inside._addInfo
  inside._addInfo = () => {
    const { info } = pdf
    pdf.info = { ...info, Title: escapeHtml(info.Title ?? '') }
    addInfo.call(pdf)
    pdf.info = info
  }
}

/** Prints rows under a repeated header and emits the file page by page. */
export const printTable = async (
  fonts: Fonts,
  job: TableJob,
  { rows, summary }: Cells,
  { emit, isCancelled }: Printing,
): Promise<void> => {
  const isTagged = rows.length <= maxTaggedRows
  const at = new Date(job.at)
  const pdf = emptyDocument({
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    tagged: isTagged,
    info: {
      Title: job.title,
      Creator: 'Portcullis',
      Producer: 'Portcullis',
      CreationDate: at,
      ...(isTagged ? {} : { Subject: untagged }),
    },
  })
  escapeMetadata(pdf)
  const type = createTypeSetter(pdf, fonts)
  const { layout, rooms, heights, heads, headHeight } = measure(type, job, rows)
  const { paper, bands } = layout
  const logo = createLogo(pdf, job.logo)
  const number = `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}`
  const lines = [
    ...job.cover,
    `${job.made}: ${number}. All times are UTC`,
    ...summary.lines(),
    ...(isTagged ? [] : [`${untagged}. Narrow the filters to get a tagged file`]),
  ]
  const first = setHead(type, job, lines, logo, paper.width - 2 * margin)
  const starts = paginate(heights, first.height, headHeight, paper.height - margin - footSize * leading - 4)
  const total = starts.length * bands.length
  const pen = createPen(pdf, isTagged)
  const document = isTagged ? pdf.struct('Document') : undefined
  if (document !== undefined) pdf.addStructure(document)
  const tables = document === undefined ? [] : bands.map(() => pdf.struct('Table'))

  function drawHead(): void {
    const top = margin
    const left = margin + padding
    const bbox = [left, top, left + logo.width * first.scale, top + first.scale]
    pen.element('Figure', document, { alt: 'Logo', bbox }, () => logo.draw(left, top, first.scale))
    const titleTop = top + Math.max(0, (first.titleHeight - 4 - first.title.length * titleSize * leading) / 2)
    pen.element('H1', document, {}, () => drawLines(first.title, titleSize, left + first.titleLeft, titleTop))
    let y = top + first.titleHeight
    for (const paragraph of first.paragraphs) {
      pen.element('P', document, {}, () => drawLines(paragraph, coverSize, left, y))
      y += paragraph.length * coverSize * leading
    }
    for (const table of tables) document?.add(table)
  }

  /** Draws lines from their left edge or, for numbers, to their right one. */
  function drawLines(set: readonly SetLine[], size: number, x: number, top: number, right?: number): void {
    set.forEach((line, i) => {
      const left = right === undefined ? x : right - line.width * size
      pen.text(line, size, left, top + (i * leading + ascent) * size)
    })
  }

  function drawPage(start: number, end: number, page: number): void {
    pdf.addPage({ size: [paper.width, paper.height], margin: 0 })
    const bandNumber = page % bands.length
    const band = bands[bandNumber] as Band
    const table = tables[bandNumber]
    const lefts = leftsOf(band)
    const right = (lefts.at(-1) as number) + (band.widths.at(-1) as number)
    if (page === 0) drawHead()
    let top = margin + (start === 0 ? first.height : 0)
    function drawCell(i: number, set: readonly SetLine[], cellTop: number): void {
      const isNumber = job.columns[band.columns[i] as number]?.isNumber
      const [left, width] = [lefts[i] as number, band.widths[i] as number]
      drawLines(set, cellSize, left + padding, cellTop, isNumber ? left + width - padding : undefined)
    }

    // Later pages repeat the header, which a screen reader must not read again.
    const headRow = start === 0 ? pen.row(table) : undefined
    band.columns.forEach((column, i) => {
      const set = heads[column] as SetLine[]
      // Headings stand on the line above their column, however many lines the others have.
      const draw = () => drawCell(i, set, top + headHeight - padding - set.length * lineHeight)
      const { heading } = job.columns[column] as TableJob['columns'][number]
      if (headRow === undefined) pen.artifact(draw)
      else pen.element('TH', headRow, { scope: 'Column', ...(set.length > 1 ? { actual: heading } : {}) }, draw)
    })
    headRow?.end()
    top += headHeight
    pen.rule(margin, right, top - 1, 0.3)
    for (let r = start; r < end; r++) {
      const row = rows[r] as string[]
      const tableRow = pen.row(table)
      band.columns.forEach((column, i) => {
        const text = row[column] as string
        const set = text === '' ? [] : type.lines(text, 'regular', rooms[column] as number, maxLines)
        // A reader cannot tell the order of such a text from its glyphs.
        const isOwnOrder = set.length > 1 || type.needsShaping(text)
        const draw = () => drawCell(i, set, top + padding / 2)
        pen.element('TD', tableRow, isOwnOrder ? { actual: text } : {}, text === '' ? undefined : draw)
      })
      tableRow?.end()
      top += heights[r] as number
      pen.rule(margin, right, top)
    }

    const foot = paper.height - margin - footSize * leading + ascent * footSize
    const stamp = `${job.title}, ${utcText(at)}${bandText(bands, bandNumber, job.columns.length)}`
    const [left] = type.lines(type.shown(stamp), 'regular', (paper.width * 0.75 - margin) / footSize, 1)
    const [place] = type.lines(`Page ${page + 1} of ${total}`, 'regular', 200, 1)
    pen.artifact(() => {
      if (left !== undefined) pen.text(left, footSize, margin + padding, foot)
      if (place !== undefined) pen.text(place, footSize, paper.width - margin - padding - place.width * footSize, foot)
    })
    pen.endPage()
  }

  function drain() {
    for (let bytes = pdf.read() as Buffer | null; bytes !== null; bytes = pdf.read() as Buffer | null) emit(bytes)
  }
  for (let page = 0; page < total; page++) {
    // The file was cancelled, so nobody reads the rest.
    if (isCancelled()) return
    const part = Math.floor(page / bands.length)
    drawPage(starts[part] as number, starts[part + 1] ?? rows.length, page)
    drain()
  }
  document?.end()
  pdf.on('data', emit).end()
  await once(pdf, 'end')
}
