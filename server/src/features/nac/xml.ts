/** One element: text and children, never both in the shapes we read. */
export interface XmlElement {
  /** Without its namespace prefix. */
  name: string
  attributes: Readonly<Record<string, string>>
  text: string
  children: readonly XmlElement[]
}

/** Deepest nesting; the documented shapes have five. */
const maxDepth = 16
const maxElements = 20_000

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const decode = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|\w{1,8});/gi, (_whole, name: string) => {
    if (name.startsWith('#')) {
      const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('no character')
      return String.fromCodePoint(code)
    }
    const known = entities[name]
    if (known === undefined) throw new Error('unknown entity')
    return known
  })

const local = (name: string): string => name.slice(name.indexOf(':') + 1)
const tag = /^<(\/?)([A-Za-z_][\w.:-]{0,127})((?:\s+[A-Za-z_][\w.:-]{0,127}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/
const attribute = /([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g

interface Open {
  name: string
  attributes: Record<string, string>
  text: string
  children: XmlElement[]
}

/**
 * Reads the few documents that ISE and CounterACT answer. Strict: a document type, an entity of its own, an instruction
 * inside, or anything unbalanced is null, so there is nothing to expand and nothing to fetch.
 */
export const readXml = (source: string): XmlElement | null => {
  let rest = source.replace(/^\ufeff/, '').trimStart()
  rest = rest.replace(/^<\?xml[^?<>]*\?>/, '')
  const open: Open[] = []
  let root: XmlElement | null = null
  let count = 0
  try {
    while (rest.length > 0) {
      const at = rest.indexOf('<')
      const text = at < 0 ? rest : rest.slice(0, at)
      const inside = open.at(-1)
      if (inside !== undefined) inside.text += decode(text)
      else if (text.trim() !== '') return null
      if (at < 0) break
      rest = rest.slice(at)
      if (rest.startsWith('<!--')) {
        const end = rest.indexOf('-->', 4)
        if (end < 0) return null
        rest = rest.slice(end + 3)
        continue
      }
      const found = tag.exec(rest)
      if (found === null) return null
      const [whole, closing, name, given, empty] = found as unknown as [string, string, string, string, string]
      rest = rest.slice(whole.length)
      if (closing === '/') {
        const last = open.pop()
        if (last === undefined || last.name !== name) return null
        const element = { ...last, name: local(last.name), text: last.text.trim() }
        const parent = open.at(-1)
        if (parent === undefined) root = element
        else parent.children.push(element)
        continue
      }
      if (root !== null || ++count > maxElements || open.length >= maxDepth) return null
      const attributes: Record<string, string> = Object.create(null)
      for (const [, key, double, single] of given.matchAll(attribute))
        attributes[key as string] = decode(double ?? single ?? '')
      open.push({ name, attributes, text: '', children: [] })
      if (empty === '/') rest = `</${name}>${rest}`
    }
  } catch {
    return null
  }
  return open.length === 0 ? root : null
}

/** The first element of a name, in the order of the document. */
export const findXml = (element: XmlElement | null, name: string): XmlElement | null => {
  if (element === null || element.name === name) return element
  for (const child of element.children) {
    const found = findXml(child, name)
    if (found !== null) return found
  }
  return null
}

/** Text of the first element of a name; empty when there is none. */
export const xmlText = (element: XmlElement | null, name: string): string => findXml(element, name)?.text ?? ''

/** A value inside a document of ours. */
export const escapeXml = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' })[char] ?? char,
  )
