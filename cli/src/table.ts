/** Control characters, line breaks and direction marks: a device's name must not move the cursor of a terminal. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Text of a host or device as a terminal may show it. */
export const plain = (value: unknown): string => String(value ?? '').replace(unsafe, '\u{FFFD}')

/** Rows under a head, columns as wide as their widest cell. */
export const table = (head: readonly string[], rows: readonly (readonly unknown[])[]): string => {
  const cells = [head, ...rows.map((row) => row.map(plain))]
  const widths = head.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)))
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
