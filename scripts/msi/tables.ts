/** Reads and writes tables of a package as text (IDT), because the SQL of msibuild loses values of other rows. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MsiTools } from './tools.ts'

interface Table {
  /** Names, types and keys of the columns: the first three lines. */
  head: readonly string[]
  rows: string[][]
}

const LINE_END = '\r\n'

/** Replaces a table of the package `file` in the folder `dir`; creates it if it is missing. */
const writeTable = (run: MsiTools, dir: string, file: string, name: string, { head, rows }: Table): void => {
  const lines = [...head, ...rows.map((row) => row.join('\t'))]
  writeFileSync(join(dir, `${name}.idt`), lines.map((line) => line + LINE_END).join(''))
  run('msibuild', [file, '-i', `${name}.idt`])
}

/** Changes the rows of a table of the package `file`. */
export const changeTable = (
  run: MsiTools,
  dir: string,
  file: string,
  name: string,
  change: (rows: string[][]) => string[][],
): void => {
  const lines = run('msiinfo', ['export', file, name])
    .split(/\r?\n/)
    .filter((line) => line !== '')
  const rows = lines.slice(3).map((line) => line.split('\t'))
  writeTable(run, dir, file, name, { head: lines.slice(0, 3), rows: change(rows) })
}
