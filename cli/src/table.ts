/** Control characters, line breaks and direction marks. The name of a device must not control the terminal. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Returns a text of a host or device that is safe to print on a terminal. */
export const plain = (value: unknown): string => String(value ?? '').replace(unsafe, '\u{FFFD}')

/** Returns rows below a header, with columns as wide as their widest cell. */
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
