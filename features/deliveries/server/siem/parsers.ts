/** Strict parsers of the formats for tests. They throw on everything that the grammar does not allow. */

interface Element {
  id: string
  names: string[]
  parameters: Record<string, string>
}

export interface Rfc5424 {
  priority: number
  version: string
  time: string
  host: string
  app: string
  process: string
  id: string
  structured: Element[]
  message: string
}

/** RFC 5424, 6: SYSLOG-MSG. */
export const parseRfc5424 = (text: string): Rfc5424 => {
  let at = 0
  const take = (pattern: RegExp): string => {
    const found = new RegExp(pattern.source, 'uy')
    found.lastIndex = at
    const match = found.exec(text)
    if (match === null) throw new Error(`no ${pattern.source} at ${at}: ${JSON.stringify(text.slice(at, at + 60))}`)
    at = found.lastIndex
    return match[0]
  }
  take(/</)
  const priority = Number(take(/0|[1-9][0-9]{0,2}/))
  if (priority > 191) throw new Error('PRIVAL')
  take(/>/)
  const version = take(/[1-9][0-9]{0,2}/)
  take(/ /)
  const time = take(/-|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})/)
  take(/ /)
  const host = take(/[!-~]{1,255}/)
  take(/ /)
  const app = take(/[!-~]{1,48}/)
  take(/ /)
  const process = take(/[!-~]{1,128}/)
  take(/ /)
  const id = take(/[!-~]{1,32}/)
  take(/ /)
  const structured: Element[] = []
  if (text[at] === '-') take(/-/)
  else
    while (text[at] === '[') {
      take(/\[/)
      const element: Element = { id: take(/[!#-<>-\\^-~]{1,32}/), names: [], parameters: {} }
      while (text[at] === ' ') {
        take(/ /)
        const name = take(/[!#-<>-\\^-~]{1,32}/)
        take(/="/)
        let value = ''
        while (text[at] !== '"') {
          const part = take(/[^"\\\]]+|\\["\\\]]/)
          value += part.startsWith('\\') ? part.slice(1) : part
        }
        take(/"/)
        element.names.push(name)
        element.parameters[name] = value
      }
      take(/\]/)
      structured.push(element)
    }
  if (at < text.length) take(/ /)
  return { priority, version, time, host, app, process, id, structured, message: text.slice(at) }
}

/** Parses CEF 0 according to "Implementing ArcSight Common Event Format". */
export const parseCef = (text: string): { header: string[]; extension: Record<string, string>; keys: string[] } => {
  if (!text.startsWith('CEF:0|')) throw new Error('not CEF')
  const header: string[] = []
  let at = 6
  while (header.length < 6) {
    let field = ''
    while (text[at] !== '|') {
      if (at >= text.length) throw new Error('the header is incomplete')
      if (text[at] === '\\') {
        at++
        if (text[at] !== '|' && text[at] !== '\\') throw new Error('an invalid escape in the header')
      }
      field += text[at++]
    }
    at++
    header.push(field)
  }
  const extension: Record<string, string> = {}
  const keys: string[] = []
  const rest = text.slice(at)
  // A key is at the start or after a space, and before an equals sign without a backslash.
  const starts = [...rest.matchAll(/(?:^| )([A-Za-z0-9_]+)=/g)].filter(({ 0: all, index }) => {
    let slashes = 0
    for (let i = index + all.length - 2; rest[i] === '\\'; i--) slashes++
    return slashes % 2 === 0
  })
  for (const [i, match] of starts.entries()) {
    const from = match.index + match[0].length
    const to = starts[i + 1]?.index ?? rest.length
    const value = rest.slice(from, to)
    if (/(?<!\\)(?:\\\\)*=/.test(value) || /(?<!\\)(?:\\\\)*\\(?![\\=nr])/.test(value))
      throw new Error(`no value: ${value}`)
    keys.push(match[1] as string)
    extension[match[1] as string] = value.replace(/\\([\\=])/g, '$1')
  }
  return { header, extension, keys }
}
