/** A column of sealed secrets, as its feature names it for whoever turns to a new key. */
export interface SealedColumn {
  table: string
  /** SQL for what names a row, as text; unique in the table. */
  key: string
  column: string
  /** What a box of this row is bound to. */
  place(key: string): string
}
