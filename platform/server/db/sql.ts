/**
 * SQL as a tagged template: every `${}` becomes a parameter, and fragments nest. Only `raw` adds text, and it takes
 * only literals from the code (reviews search for its name).
 */
export interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
}

class Fragment {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}
export type SqlFragment = Fragment

/** Builds a part of a statement with its parameters. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): SqlFragment =>
  new Fragment(strings, values)

/** Uses text as it is. Only for names and expressions in our own source. */
export const raw = (text: string): SqlFragment => new Fragment([text], [])

/** Joins fragments by a separator from our own source. */
export const join = (parts: readonly SqlFragment[], separator: string): SqlFragment => {
  if (parts.length === 0) return raw('')
  const strings = ['', ...parts.slice(1).map(() => separator), '']
  return new Fragment(strings, parts)
}

/** Returns the statement with numbered parameters; the first is `$from`. */
export const compile = (fragment: SqlFragment, from = 1): Sql => {
  const values: unknown[] = []
  let text = ''
  function walk(f: SqlFragment): void {
    f.strings.forEach((s, i) => {
      text += s
      if (i >= f.values.length) return
      const value = f.values[i]
      if (value instanceof Fragment) walk(value)
      else {
        values.push(value)
        text += `$${values.length + from - 1}`
      }
    })
  }
  walk(fragment)
  return { text, values }
}
