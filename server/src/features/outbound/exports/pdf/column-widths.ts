/** Widths that a column asks for, in points. */
export interface WantedWidth {
  /** Width of the heading, which is never broken. */
  head: number
  /** Width of the widest cell. */
  widest: number
}

export interface Paper {
  width: number
  height: number
}

/** A4 to A0 in landscape. A list of all columns needs A0. */
const papers: readonly Paper[] = [
  { width: 841.89, height: 595.28 },
  { width: 1190.55, height: 841.89 },
  { width: 1683.78, height: 1190.55 },
  { width: 2383.94, height: 1683.78 },
  { width: 3370.39, height: 2383.94 },
]

/** Width that a column of long texts gets before larger paper is chosen: about 25 letters. */
const enough = 100
/** Width beyond which a text is broken even if there is room. */
const most = 320

/** Returns the smallest paper on which all columns have enough room, or A4, and the column widths on it. */
export const fitColumns = (
  wanted: readonly WantedWidth[],
  margins: number,
  isA4 = false,
): { paper: Paper; widths: number[] } => {
  const least = wanted.map(({ head, widest }) => Math.max(head, Math.min(widest, enough)))
  const liked = wanted.map(({ head, widest }) => Math.max(head, Math.min(widest, most)))
  const needed = least.reduce((sum, width) => sum + width, margins)
  const largest = papers.at(-1) as Paper
  // Beyond A0: printers reject it, but every PDF reader accepts it (the format ends at 14,400 points).
  const paper = papers.find(({ width }) => isA4 || width >= needed) ?? {
    width: Math.min(needed, 14_400),
    height: largest.height,
  }
  const room = paper.width - margins
  const heads = wanted.reduce((sum, { head }) => sum + head, 0)
  if (needed > paper.width && heads < room) {
    // Headings keep their width; the cells share the rest.
    const part = (room - heads) / (needed - margins - heads)
    return { paper, widths: least.map((width, i) => (wanted[i]?.head ?? 0) * (1 - part) + width * part) }
  }
  const scale = Math.min(1, room / (needed - margins))
  const spare = Math.max(0, paper.width - needed)
  const asked = liked.reduce((sum, width, i) => sum + width - (least[i] as number), 0)
  const share = asked === 0 ? 0 : Math.min(1, spare / asked)
  return {
    paper,
    widths: least.map((width, i) => scale * width + share * ((liked[i] as number) - width)),
  }
}
