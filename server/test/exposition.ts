/** A metric family of the Prometheus text format 0.0.4, parsed strictly. */
export interface Family {
  name: string
  type: string
  help: string
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/y
const unescaped = (text: string): string => text.replace(/\\(["\\n])/g, (_, c: string) => (c === 'n' ? '\n' : c))

const labelsOf = (text: string, line: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  let at = 0
  while (at < text.length) {
    label.lastIndex = at
    const match = label.exec(text)
    if (match === null) throw new Error(`invalid labels: ${line}`)
    if (Object.hasOwn(labels, match[1] as string)) throw new Error(`duplicate label: ${line}`)
    labels[match[1] as string] = unescaped(match[2] as string)
    at = label.lastIndex
    if (at < text.length && text[at++] !== ',') throw new Error(`invalid labels: ${line}`)
  }
  return labels
}

const numberOf = (text: string, line: string): number => {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (!/^[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) throw new Error(`not a number: ${line}`)
  return Number(text)
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  counter: [''],
  gauge: [''],
}

const assertHistogram = ({ name, samples }: Family): void => {
  const series = new Map<string, { buckets: [number, number][]; count?: number; sum?: number }>()
  for (const { name: sample, labels, value } of samples) {
    const { le, ...others } = labels
    const key = JSON.stringify(others)
    const of = series.get(key) ?? { buckets: [] }
    series.set(key, of)
    if (sample === `${name}_bucket`) of.buckets.push([numberOf(le ?? '', `${name} le`), value])
    else if (sample === `${name}_count`) of.count = value
    else of.sum = value
  }
  for (const [key, { buckets, count, sum }] of series) {
    const rising = buckets.every(
      ([le, n], i) => i === 0 || (le > (buckets[i - 1]?.[0] ?? 0) && n >= (buckets[i - 1]?.[1] ?? 0)),
    )
    if (
      !rising ||
      buckets.at(-1)?.[0] !== Number.POSITIVE_INFINITY ||
      buckets.at(-1)?.[1] !== count ||
      sum === undefined
    )
      throw new Error(`${name}${key} is not a valid histogram`)
  }
}

/** Parses an exposition. Throws on everything that a strict parser rejects or the specification advises against. */
export const readExposition = (text: string): Map<string, Family> => {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: Family | null = null
  let help: { name: string; text: string } | null = null
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment
      if (kind === 'HELP') {
        help = { name, text: rest }
        continue
      }
      if (help?.name !== name) throw new Error(`${name} has no help before its type`)
      if (families.has(name)) throw new Error(`${name} appears twice`)
      if (!Object.hasOwn(suffixes, rest)) throw new Error(`${name} is a ${rest}`)
      current = { name, type: rest, help: help.text, samples: [] }
      families.set(name, current)
      continue
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (sample === null || current === null) throw new Error(`invalid line: ${line}`)
    const [, name = '', labels = '', value = ''] = sample
    const family: Family = current
    if (!(suffixes[family.type] as readonly string[]).some((suffix) => name === family.name + suffix))
      throw new Error(`${name} is listed under ${family.name}`)
    const key = `${name}{${labels}}`
    if (seen.has(key)) throw new Error(`duplicate sample: ${key}`)
    seen.add(key)
    family.samples.push({ name, labels: labelsOf(labels, line), value: numberOf(value, line) })
  }
  for (const family of families.values()) {
    const { name, type, help: text_ } = family
    if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}`)
    if (!/^[a-z][a-z0-9_]*$/.test(name) || /_(?:ms|milliseconds|minutes|percent|kb|mb)(?:_|$)/.test(name))
      throw new Error(`${name} is not named by a base unit`)
    if (text_ === '') throw new Error(`${name} has no help`)
    if (type === 'histogram') assertHistogram(family)
  }
  return families
}
