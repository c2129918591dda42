import { type TreeObject, unescapeXml } from './tree.ts'

/** Returns the text of the first element with this name, whatever its attributes. */
const elementIn = (xml: string, name: string): string | undefined => {
  const open = `<${name}`
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at + 1)) {
    const next = xml[at + open.length]
    if (next !== '>' && next !== ' ') continue
    const from = xml.indexOf('>', at)
    const to = xml.indexOf(`</${name}>`, from)
    return from < 0 || to < 0 ? undefined : unescapeXml(xml.slice(from + 1, to))
  }
  return undefined
}

/** Returns the value of an attribute of the first element with this name. */
const attributeIn = (xml: string, element: string, name: string): string | undefined => {
  const at = xml.indexOf(`<${element} `)
  const end = at < 0 ? -1 : xml.indexOf('>', at)
  if (end < 0) return undefined
  const from = xml.indexOf(`${name}=`, at)
  const quote = xml[from + name.length + 1]
  if (from < 0 || from > end || (quote !== '"' && quote !== "'")) return undefined
  const start = from + name.length + 2
  const to = xml.indexOf(quote, start)
  return to < 0 || to > end ? undefined : unescapeXml(xml.slice(start, to))
}

/** Returns the named values of `<EventData>`. Reads each character once. */
export const xmlData = (xml: string): TreeObject => {
  const values: TreeObject = Object.create(null)
  const open = '<Data Name='
  for (let at = xml.indexOf(open); at >= 0; ) {
    const quote = xml[at + open.length]
    const start = at + open.length + 1
    const end = quote === '"' || quote === "'" ? xml.indexOf(quote, start) : -1
    const from = end < 0 ? -1 : xml.indexOf('>', end)
    if (from < 0) break
    const isEmpty = xml[from - 1] === '/'
    const to = isEmpty ? from : xml.indexOf('</Data>', from)
    if (to < 0) break
    if (!isEmpty) values[xml.slice(start, end)] = unescapeXml(xml.slice(from + 1, to))
    at = xml.indexOf(open, to)
  }
  return values
}

/** Returns a Windows event in XML in the shape of `winlog` in Winlogbeat. Undefined if it is not one. */
export const xmlEvent = (xml: string): TreeObject | undefined => {
  const id = elementIn(xml, 'EventID')
  if (id === undefined) return undefined
  return {
    event_id: id.trim(),
    computer_name: elementIn(xml, 'Computer') ?? '',
    channel: elementIn(xml, 'Channel') ?? '',
    record_id: elementIn(xml, 'EventRecordID') ?? '',
    time: attributeIn(xml, 'TimeCreated', 'SystemTime') ?? '',
    event_data: xmlData(xml),
  }
}
