/** The record of bars: the initial list, and one row for every change since. */

/** Bars by check and figure. Several bars of one figure are joined by semicolons. */
export type Bars = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Change {
  date: string
  check: string
  figure: string
  old: string
  new: string
  reason: string
  before: string
  after: string
}

/** Groups a list of bars. */
export const grouped = (list: readonly { check: string; figure: string; bar: string }[]): Bars => {
  const result: Record<string, Record<string, string>> = {}
  for (const { check, figure, bar } of list) {
    const figures = result[check] ?? {}
    result[check] = figures
    const known = figures[figure]?.split('; ') ?? []
    figures[figure] = [...new Set([...known, bar])].sort().join('; ')
  }
  return result
}

/** Reads the rows below the heading "Changes". Cells contain no vertical bar. */
export const readChanges = (markdown: string): Change[] => {
  const section = markdown.split(/^## /m).find((text) => text.startsWith('Changes\n')) ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(?:-+\|)+$/.test(line) && !line.startsWith('| date '))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim())
      const [, date = '', check = '', figure = '', old = '', next = '', reason = '', before = '', after = ''] = cells
      return { date, check, figure, old, new: next, reason, before, after }
    })
}

const none = 'none'

/** Applies all changes to the initial bars. Returns the current bars and the faults in the rows. */
export const applyChanges = (start: Bars, changes: readonly Change[]): { bars: Bars; faults: string[] } => {
  const bars: Record<string, Record<string, string>> = structuredClone(start) as never
  const faults: string[] = []
  for (const change of changes) {
    const { date, check, figure, reason, before, after } = change
    const figures = bars[check] ?? {}
    bars[check] = figures
    const present = figures[figure] ?? none
    const name = `${date} ${check}, ${figure}`
    if (present !== change.old) faults.push(`${name}: the old bar was "${present}", not "${change.old}"`)
    if (!/^\d{4}-\d\d-\d\d$/.test(date)) faults.push(`${name}: the date is missing`)
    for (const [cell, text] of Object.entries({ reason, before, after }))
      if (text === '') faults.push(`${name}: "${cell}" is empty`)
    if (change.new === none) delete figures[figure]
    else figures[figure] = change.new
    if (Object.keys(figures).length === 0) delete bars[check]
  }
  return { bars, faults }
}

/** Formats differences as rows for the ledger. The reason and the measurements are still missing. */
export const missingRows = (recorded: Bars, code: Bars): string[] => {
  const names = (bars: Bars): string[] =>
    Object.entries(bars).flatMap(([check, figures]) => Object.keys(figures).map((figure) => `${check} | ${figure}`))
  return [...new Set([...names(recorded), ...names(code)])].sort().flatMap((name) => {
    const [check = '', figure = ''] = name.split(' | ')
    const [old, next] = [recorded[check]?.[figure] ?? none, code[check]?.[figure] ?? none]
    return old === next ? [] : [`| date | ${name} | ${old} | ${next} | reason | before | after |`]
  })
}
