/** One element, with text or children; documents here never have both. */
export interface XmlElement {
  /** Name without its namespace prefix. */
  name: string
  attributes: Readonly<Record<string, string>>
  text: string
  children: readonly XmlElement[]
}

/** Deepest nesting; documented answers have five levels. */
const maxDepth = 16
const maxElements = 20_000

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const decode = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|\w{1,8});/gi, (_whole, name: string) => {
    if (name.startsWith('#')) {
      const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('invalid character')
      return String.fromCodePoint(code)
    }
    const known = entities[name]
    if (known === undefined) throw new Error('unknown entity')
    return known
  })

const local = (name: string): string => name.slice(name.indexOf(':') + 1)
const tag = /<(\/?)([A-Za-z_][\w.:-]{0,127})((?:\s+[A-Za-z_][\w.:-]{0,127}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /\s+([A-Za-z_][\w.:-]{0,127})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gy

interface Open {
  name: string
  attributes: Record<string, string>
  text: string
  children: XmlElement[]
}

/**
 * Parses the few documents that ISE and CounterACT return. Strict: a document type, a custom entity, an inner
 * processing instruction or anything unbalanced gives null, so nothing is expanded or fetched.
 */
export const readXml = (source: string): XmlElement | null => {
  const text = source
    .replace(/^\ufeff/, '')
    .trimStart()
    .replace(/^<\?xml[^?<>]*\?>/, '')
  // An index into one text: cutting the text copied megabytes for each element.
  let from = 0
  const open: Open[] = []
  const roots: XmlElement[] = []
  let count = 0
  function close(): void {
    const last = open.pop()
    if (last === undefined) return
    const element = { ...last, name: local(last.name), text: last.text.trim() }
    ;(open.at(-1)?.children ?? roots).push(element)
  }
  try {
    while (from < text.length) {
      const at = text.indexOf('<', from)
      const between = text.slice(from, at < 0 ? text.length : at)
      const inside = open.at(-1)
      if (inside !== undefined) inside.text += decode(between)
      else if (between.trim() !== '') return null
      if (at < 0) break
      if (text.startsWith('<!--', at)) {
        const end = text.indexOf('-->', at + 4)
        if (end < 0) return null
        from = end + 3
        continue
      }
      tag.lastIndex = at
      const found = tag.exec(text)
      if (found === null) return null
      const [whole, closing = '', name = '', given = '', empty = ''] = found
      from = at + whole.length
      if (closing === '/') {
        if (open.at(-1)?.name !== name) return null
        close()
        continue
      }
      if (roots.length > 0 || ++count > maxElements || open.length >= maxDepth) return null
      const attributes: Record<string, string> = Object.create(null)
      for (const [, key = '', double, single] of given.matchAll(attribute))
        attributes[key] = decode(double ?? single ?? '')
      open.push({ name, attributes, text: '', children: [] })
      if (empty === '/') close()
    }
  } catch {
    return null
  }
  return open.length === 0 ? (roots[0] ?? null) : null
}

/** Returns the first element with a name, in document order. */
export const findXml = (element: XmlElement | null, name: string): XmlElement | null => {
  if (element === null || element.name === name) return element
  for (const child of element.children) {
    const found = findXml(child, name)
    if (found !== null) return found
  }
  return null
}

/** Returns the text of the first element with a name, or an empty string. */
export const xmlText = (element: XmlElement | null, name: string): string => findXml(element, name)?.text ?? ''

/** Escapes a value for an XML document. */
export const escapeXml = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' })[char] ?? char,
  )
