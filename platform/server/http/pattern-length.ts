const tokens = /\[(?:\\.|[^\]\\])*\]|\\u[0-9A-Fa-f]{4}|\\.|\(\?:|\{\d+(?:,\d*)?\}|[\s\S]/g

/** Returns the length of the longest text that a pattern matches; `Infinity` if it has no limit or no anchors. */
export const patternLength = (pattern: string): number => {
  if (!/^\^[\s\S]*\$$/.test(pattern) || /\(\?[^:]/.test(pattern)) return Number.POSITIVE_INFINITY
  /** The open groups: their longest alternative, the present one, and its last part. */
  const groups = [{ longest: 0, length: 0, last: 0 }]
  const all = pattern.match(tokens) ?? []
  for (const [i, token] of all.entries()) {
    const group = groups.at(-1) as (typeof groups)[number]
    const add = (length: number, group: (typeof groups)[number]): void => {
      group.length += length
      group.last = length
    }
    if (token === '(' || token === '(?:') groups.push({ longest: 0, length: 0, last: 0 })
    else if (token === ')') {
      groups.pop()
      add(Math.max(group.longest, group.length), groups.at(-1) as typeof group)
    } else if (token === '|') {
      if (groups.length === 1 && (all[i - 1] !== '$' || all[i + 1] !== '^')) return Number.POSITIVE_INFINITY
      group.longest = Math.max(group.longest, group.length)
      group.length = 0
    } else if (token === '*' || token === '+') return Number.POSITIVE_INFINITY
    else if (/^\{\d/.test(token)) {
      const [least, most = least] = token.slice(1, -1).split(',')
      if (most === '') return Number.POSITIVE_INFINITY
      group.length += group.last * (Number(most) - 1)
    } else if (!['^', '$', '?'].includes(token)) add(1, group)
  }
  const [whole] = groups
  return Math.max(whole?.longest ?? 0, whole?.length ?? 0)
}
