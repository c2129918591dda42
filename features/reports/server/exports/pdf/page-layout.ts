/** Widths that a column asks for, in points. */
export interface WantedWidth {
  /** Width of the heading on one line. */
  head: number
  /** Width of the heading on a few lines. Its words are never broken. */
  brokenHead: number
  /** Width of the widest cell. */
  widest: number
}

export interface Paper {
  width: number
  height: number
}

/** Columns side by side on a page, with their widths. */
export interface Band {
  columns: readonly number[]
  widths: readonly number[]
}

interface PageLayout {
  paper: Paper
  /** The first band has the first columns; each further one repeats the first column. */
  bands: readonly Band[]
}

const portrait: Paper = { width: 595.28, height: 841.89 }
const landscape: Paper = { width: 841.89, height: 595.28 }

/** Width at which long texts are still easy to read: about 25 letters. */
const enough = 100
/** Width to which a column of long texts shrinks before columns move to another page. */
const tight = 56
/** Width beyond which a text is broken even if there is room. */
const most = 320

const sumOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width, 0)

/** Returns widths between two bounds of each column, as large as the room permits. */
const between = (low: readonly number[], high: readonly number[], room: number): number[] => {
  const missing = sumOf(high) - sumOf(low)
  const part = missing <= 0 ? 0 : Math.max(0, Math.min(1, (room - sumOf(low)) / missing))
  return low.map((width, i) => width + ((high[i] as number) - width) * part)
}

/** Arranges columns on A4: upright if they fit, else across, and in several bands if they are too many for that. */
export const layoutColumns = (wanted: readonly WantedWidth[], margins: number): PageLayout => {
  const least = wanted.map(({ brokenHead, widest }) => Math.max(brokenHead, Math.min(widest, tight)))
  const good = wanted.map(({ brokenHead, widest }) => Math.max(brokenHead, Math.min(widest, enough)))
  const liked = wanted.map(({ head, widest }) => Math.max(head, Math.min(widest, most)))
  const all = wanted.map((_, i) => i)
  const fits = (widths: readonly number[], paper: Paper): boolean => sumOf(widths) <= paper.width - margins
  if (fits(good, portrait))
    return { paper: portrait, bands: [{ columns: all, widths: between(good, liked, portrait.width - margins) }] }
  const room = landscape.width - margins
  if (fits(good, landscape)) return { paper: landscape, bands: [{ columns: all, widths: between(good, liked, room) }] }
  if (fits(least, landscape)) return { paper: landscape, bands: [{ columns: all, widths: between(least, good, room) }] }
  const bands: number[][] = [[0]]
  let used = good[0] as number
  for (const i of all.slice(1)) {
    const width = good[i] as number
    if (used + width > room) {
      bands.push([0])
      used = good[0] as number
    }
    bands.at(-1)?.push(i)
    used += width
  }
  const pick = (widths: readonly number[], columns: readonly number[]) => columns.map((i) => widths[i] as number)
  return {
    paper: landscape,
    bands: bands.map((columns) => ({
      columns,
      widths: between(pick(good, columns), pick(liked, columns), room),
    })),
  }
}
