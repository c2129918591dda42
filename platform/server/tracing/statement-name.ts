const known = new Map<string, string>()
/** Limit: texts are our own source, but lists combine them from filters, and there are many combinations. */
const mostKnown = 2_000

const tableOf: Readonly<Record<string, RegExp>> = {
  insert: /\binsert\s+into\s+"?(\w+)/i,
  update: /\bupdate\s+"?(\w+)/i,
  delete: /\bdelete\s+from\s+"?(\w+)/i,
  select: /\bfrom\s+"?(\w+)/i,
}

/** Returns the action and table of a statement: `update jobs`. Never its text, which may contain an expression. */
export const statementName = (text: string): string => {
  const before = known.get(text)
  if (before !== undefined) return before
  const first = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement'
  // A WITH is named after its writing part, or select.
  const verb =
    first === 'with'
      ? (
          /\b(insert|update|delete)\b(?!\s+of\b)/i.exec(text.replace(/\bfor\s+(?:no\s+key\s+)?update/gi, ''))?.[1] ??
          'select'
        ).toLowerCase()
      : first
  const table = tableOf[verb]?.exec(text)?.[1]?.toLowerCase()
  const name = table === undefined ? verb : `${verb} ${table}`
  if (known.size < mostKnown) known.set(text, name)
  return name
}
