import { maxTaggedRows } from '@portcullis/contract'
import { type CellFormat, printedText, utcText } from '../cell-text.ts'
import { createBytes } from './bytes.ts'
import { createCanvas } from './canvas.ts'
import { emptyDocument, type Fonts } from './fonts.ts'
import { createLogo, type Logo } from './logo.ts'
import { createObjects } from './objects.ts'
import { type Band, layoutColumns, type PageLayout } from './page-layout.ts'
import { actualText, createStructure } from './structure.ts'
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

/** Returns the width of each cell at font size 1, row by row, for visible texts. */
const cellWidths = (type: TypeSetter, rows: readonly (readonly string[])[], count: number): Float32Array => {
  const widths = new Float32Array(rows.length * count)
  rows.forEach((row, r) => {
    for (let i = 0; i < count; i++) widths[r * count + i] = type.widthOf(row[i] as string, 'regular')
  })
  return widths
}

/** Lines of a heading. */
const maxHeadLines = 3

/** Returns the least width of a heading on a few lines, at font size 1. A line keeps the space at its end. */
const brokenWidth = (type: TypeSetter, heading: string): number => {
  const words = heading.split(/(?<= )/).map((word) => type.widthOf(word, 'bold'))
  const linesAt = (room: number): number => {
    let [lines, used] = [1, 0]
    for (const width of words) {
      if (used > 0 && used + width > room) {
        lines++
        used = 0
      }
      used += width
    }
    return lines
  }
  const widths = words.flatMap((_, from) => words.slice(from).map((_width, i) => words.slice(from, from + i + 1)))
  const sums = widths.map((part) => part.reduce((sum, width) => sum + width, 0)).toSorted((a, b) => a - b)
  const widestWord = Math.max(...words)
  return sums.find((room) => room >= widestWord && linesAt(room) <= maxHeadLines) ?? type.widthOf(heading, 'bold')
}

/** Measures the rows: the layout of the columns, and the height of each row. */
const measure = (type: TypeSetter, job: TableJob, rows: readonly (readonly string[])[]) => {
  const count = job.columns.length
  const cells = cellWidths(type, rows, count)
  const widest = new Array<number>(count).fill(0)
  for (let at = 0; at < cells.length; at++)
    if ((cells[at] as number) > (widest[at % count] as number)) widest[at % count] = cells[at] as number
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

/** Lookups after which the cache is no longer used for a column whose texts rarely repeat. */
const triedTexts = 512

/** Returns a function that breaks the text of a cell. It keeps the lines of repeated texts, as most columns have. */
const lineBreaker = (type: TypeSetter, rooms: readonly number[]) => {
  const caches = rooms.map(() => ({ known: new Map<string, SetLine[]>(), misses: 0 }))
  return (column: number, text: string): SetLine[] => {
    const cache = caches[column] as (typeof caches)[number]
    const known = cache.misses < triedTexts ? cache.known.get(text) : undefined
    if (known !== undefined) return known
    const lines = type.lines(text, 'regular', rooms[column] as number, maxLines)
    if (cache.misses < triedTexts) {
      cache.misses++
      cache.known.set(text, lines)
    }
    return lines
  }
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

/** Prints rows under a repeated header and emits the file page by page. */
export const printTable = (
  fonts: Fonts,
  job: TableJob,
  { rows, summary }: Cells,
  { emit, isCancelled }: Printing,
): void => {
  const isTagged = rows.length <= maxTaggedRows
  const at = new Date(job.at)
  const info = {
    Title: job.title,
    Creator: 'Portcullis',
    Producer: 'Portcullis',
    ...(isTagged ? {} : { Subject: untagged }),
  }
  const pdf = emptyDocument({
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    info: { ...info, CreationDate: at },
  })
  const objects = createObjects(pdf, info, at)
  const type = createTypeSetter(pdf, fonts)
  function drain() {
    for (let bytes = pdf.read() as Buffer | null; bytes !== null; bytes = pdf.read() as Buffer | null) emit(bytes)
  }
  const count = job.columns.length
  const { layout, rooms, heights, heads, headHeight } = measure(type, job, rows)
  const { paper, bands }: PageLayout = layout
  const logo = createLogo(objects, job.logo)
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
  const linesOf = lineBreaker(type, rooms)

  const canvasBytes = { texts: createBytes(), rules: createBytes() }
  const structure = createStructure()
  const document = structure.add('Document', -1)
  let tables: number[] = []
  const resources = objects.reserve()
  const used = new Map<string, number>()
  const pages: number[] = []

  function drawPage(start: number, end: number, bandNumber: number): void {
    const page = pages.length
    const band = bands[bandNumber] as Band
    const lefts = leftsOf(band)
    const right = (lefts.at(-1) as number) + (band.widths.at(-1) as number)
    const canvas = createCanvas(paper.height, isTagged, canvasBytes)
    function drawLines(set: readonly SetLine[], size: number, x: number, top: number): void {
      set.forEach((line, i) => {
        canvas.text(line, size, x, top + (i * leading + ascent) * size)
      })
    }
    function drawMarked(role: 'H1' | 'P', set: readonly SetLine[], size: number, x: number, top: number): void {
      canvas.open(role, isTagged ? structure.mark(role, document, page) : -1)
      drawLines(set, size, x, top)
      canvas.close()
    }
    let top = margin
    if (page === 0) {
      const box = `[${margin} ${Math.floor(paper.height - margin - first.scale)} ${Math.ceil(margin + logo.width * first.scale)} ${paper.height - margin}]`
      const figure = isTagged
        ? structure.mark('Figure', document, page, `/Alt(Logo)/A<</O/Layout/Placement/Block/BBox${box}>>`)
        : -1
      canvas.picture(logo.operators, margin + padding, top, first.scale, figure)
      const titleTop = top + Math.max(0, (first.titleHeight - 4 - first.title.length * titleSize * leading) / 2)
      drawMarked('H1', first.title, titleSize, margin + padding + first.titleLeft, titleTop)
      let y = top + first.titleHeight
      for (const paragraph of first.paragraphs) {
        drawMarked('P', paragraph, coverSize, margin + padding, y)
        y += paragraph.length * coverSize * leading
      }
      if (isTagged) tables = bands.map(() => structure.add('Table', document))
    }
    if (start === 0) top = margin + first.height

    const table = tables[bandNumber] as number
    // Later pages repeat the header, which a screen reader must not read again.
    const headRow = isTagged && start === 0 ? structure.add('TR', table) : -1
    if (headRow < 0) canvas.open('', -1)
    band.columns.forEach((column, i) => {
      const set = heads[column] as SetLine[]
      const { heading, isNumber } = job.columns[column] as TableJob['columns'][number]
      const attributes = `/A<</O/Table/Scope/Column>>${set.length > 1 ? actualText(heading) : ''}`
      if (headRow >= 0) canvas.open('TH', structure.mark('TH', headRow, page, attributes))
      // Headings stand on the line above their column, however many lines the others have.
      const headTop = top + headHeight - padding - set.length * lineHeight
      const edge = (lefts[i] as number) + (band.widths[i] as number) - padding
      set.forEach((line, l) => {
        const left = isNumber ? edge - line.width * cellSize : (lefts[i] as number) + padding
        canvas.text(line, cellSize, left, headTop + (l * leading + ascent) * cellSize)
      })
      if (headRow >= 0) canvas.close()
    })
    if (headRow < 0) canvas.close()
    top += headHeight
    canvas.rule(margin, right, top - 1, 0.3)
    for (let r = start; r < end; r++) {
      const row = rows[r] as string[]
      const element = isTagged ? structure.add('TR', table) : -1
      const cellTop = top + padding / 2
      band.columns.forEach((column, i) => {
        const text = row[column] as string
        if (text === '') {
          if (isTagged) structure.add('TD', element)
          return
        }
        const set = linesOf(column, text)
        if (isTagged) {
          // A reader cannot tell the order of such a text from its glyphs.
          const isOwnOrder = type.needsShaping(text) || set.length > 1
          canvas.open('TD', structure.mark('TD', element, page, isOwnOrder ? actualText(text) : ''))
        }
        if (job.columns[column]?.isNumber === true) {
          const edge = (lefts[i] as number) + (band.widths[i] as number) - padding
          set.forEach((line, l) => {
            canvas.text(line, cellSize, edge - line.width * cellSize, cellTop + (l * leading + ascent) * cellSize)
          })
        } else drawLines(set, cellSize, (lefts[i] as number) + padding, cellTop)
        if (isTagged) canvas.close()
      })
      top += heights[r] as number
      canvas.rule(margin, right, top)
    }

    const foot = paper.height - margin - footSize * leading + ascent * footSize
    const stamp = `${job.title}, ${utcText(at)}${bandText(bands, bandNumber, count)}`
    const [left] = type.lines(type.shown(stamp), 'regular', (paper.width * 0.75 - margin) / footSize, 1)
    const [place] = type.lines(`Page ${page + 1} of ${total}`, 'regular', 200, 1)
    canvas.open('', -1)
    if (left !== undefined) canvas.text(left, footSize, margin + padding, foot)
    if (place !== undefined) canvas.text(place, footSize, paper.width - margin - padding - place.width * footSize, foot)
    canvas.close()

    const content = objects.ref({ Filter: 'FlateDecode' })
    content.end(canvas.end())
    for (const [id, font] of canvas.fonts) if (!used.has(id)) used.set(id, (font.ref() as { id: number }).id)
    const own = objects.reference()
    objects.addPage(own)
    pages.push(own.id)
    const tags = isTagged ? `/StructParents ${page}/Tabs/S` : ''
    objects.pack(
      own.id,
      `<</Type/Page/Parent ${objects.pagesId} 0 R/MediaBox[0 0 ${paper.width} ${paper.height}]/Resources ${resources} 0 R/Contents ${content.id} 0 R${tags}>>`,
    )
    drain()
  }

  for (const [i, start] of starts.entries())
    for (let band = 0; band < bands.length; band++) {
      // Nobody reads the rest.
      if (isCancelled()) return
      drawPage(start, starts[i + 1] ?? rows.length, band)
    }
  const fontEntries = [...used].map(([name, id]) => `/${name} ${id} 0 R`).join('')
  const pictures = logo.picture === undefined ? '' : `/XObject<</${logo.picture.name} ${logo.picture.id} 0 R>>`
  objects.pack(resources, `<</Font<<${fontEntries}>>${pictures}>>`)
  if (isTagged) structure.write(objects, pages)
  objects.flush()
  pdf.end()
  drain()
}
