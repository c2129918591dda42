/** Builds the output of the script on macOS from its parts. */
export const macAnswer = ({
  host = ['Darwin studio.local 23.5.0 arm64', '14.5', 'Mac14,13'],
  profiler = '{"SPUSBDataType":[],"SPUSBHostDataType":[]}',
  registry = '',
  interfaces = '',
}: {
  host?: string[]
  profiler?: string
  registry?: string
  interfaces?: string
} = {}): Buffer =>
  Buffer.from(
    ['portcullis 1', 'Darwin', '<portcullis host>', ...host, '', '<portcullis profiler>', profiler, '']
      .concat('<portcullis registry>', registry, '', '<portcullis interfaces>', interfaces, '', '<portcullis end>', '')
      .join('\n'),
  )

export type Value = string | number | bigint | boolean | Value[] | { [key: string]: Value }

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const element = (value: Value): string => {
  if (typeof value === 'string') return `<string>${escapeXml(value)}</string>`
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>'
  if (typeof value === 'number' || typeof value === 'bigint') return `<integer>${value}</integer>`
  if (Array.isArray(value))
    return value.length === 0 ? '<array/>' : `<array>\n${value.map(element).join('\n')}\n</array>`
  const members = Object.entries(value).map(([key, v]) => `<key>${escapeXml(key)}</key>\n${element(v)}`)
  return members.length === 0 ? '<dict/>' : `<dict>\n${members.join('\n')}\n</dict>`
}

/** Returns a property list as `ioreg -a` writes it. */
export const plist = (value: Value): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n${element(value)}\n</plist>`
