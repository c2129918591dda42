/** Readers of public lists of USB products. Each one fails at a line that it does not understand, and never guesses. */

/** `[source, product, maker]`; the maker is absent if the list does not name one. */
export type Registered = [source: string, product: string, maker?: string]

/** A text file of a list, at its path in the repository. */
export interface SourceFile {
  path: string
  text: string
}

export interface Registry {
  id: string
  /** Name of the public repository, also of the folder with its checkout. */
  repository: string
  /** The vendor id whose products this list assigns. Absent: the list describes products of other vendor ids. */
  vid?: string
  licence: string
  /** Files of the repository that `read` needs. */
  files: (path: string) => boolean
  /** Products by `VVVV:PPPP`, or `VVVV:PPPP-PPPP` for a range. */
  read: (files: readonly SourceFile[]) => [key: string, product: string, maker?: string][]
}

const fail = (file: SourceFile, line: number, why: string): never => {
  throw new Error(`${file.path}:${line}: ${why}`)
}

const clean = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)

const linesOf = (text: string): string[] => text.split(/\r?\n/)
const hex = (text: string): string => text.toUpperCase()

/** Placeholders of lists for ids that no product has yet. */
const isUnassigned = (name: string): boolean => /^(?:reserved\b.*|tbd\b.*|unknown product|unused|-*)$/i.test(name)

/** Reads the `key: value` header of a page. Values are plain or quoted; indented lines continue a value. */
const headerOf = (file: SourceFile): Map<string, string> => {
  const lines = linesOf(file.text.replace(/^\uFEFF/, ''))
  if (lines[0]?.trim() !== '---') fail(file, 1, 'does not begin with the line ---')
  const found = new Map<string, string>()
  for (const [i, line] of lines.entries()) {
    if (i === 0) continue
    if (line.trim() === '---') return found
    if (line.trim() === '' || /^[\s#-]/.test(line)) continue
    const [, key, value = ''] = /^(\w[\w -]*?)\s*:\s*(.*)$/.exec(line) ?? fail(file, i + 1, 'is not "name: value"')
    const quoted = /^"(.*)"\s*$|^'(.*)'\s*$/.exec(value)
    found.set(String(key), clean(quoted?.[1]?.replaceAll('\\"', '"') ?? quoted?.[2]?.replaceAll("''", "'") ?? value))
  }
  return fail(file, lines.length, 'ends before the second line ---')
}

const pidCodes: Registry = {
  id: 'pid.codes',
  repository: 'pidcodes/pidcodes.github.com',
  vid: '1209',
  licence: 'CC0-1.0',
  files: (path) => /^(?:1209|org)\/[^/]+\/index\.md$/.test(path),
  read: (files) => {
    const owners = new Map<string, string>()
    for (const file of files)
      if (file.path.startsWith('org/'))
        owners.set(file.path.split('/')[1] ?? '', headerOf(file).get('title') || fail(file, 1, 'has no title'))
    return files.flatMap((file) => {
      if (file.path.startsWith('org/')) return []
      const pid = file.path.split('/')[1] ?? ''
      if (!/^[0-9A-Fa-f]{4}$/.test(pid)) fail(file, 1, 'is in a folder that is not a product id')
      const header = headerOf(file)
      const title = header.get('title') || fail(file, 1, 'has no title')
      const owner = header.get('owner') || fail(file, 1, 'has no owner')
      return [[`1209:${hex(pid)}`, title, owners.get(owner) ?? owner]]
    })
  },
}

/** Removes the wiki link `[address name]` from a name. An address alone names nothing. */
const unlinked = (text: string): string =>
  clean(text.replace(/\[\s*\S*:\/\/\S+?(?:\s+([^\]]*))?\]/g, '$1').replace(/\*R!\*/g, ''))

const openMoko: Registry = {
  id: 'openmoko',
  repository: 'openmoko/openmoko-usb-oui',
  vid: '1D50',
  licence: 'LicenseRef-none-stated',
  files: (path) => path === 'usb_product_ids.psv',
  read: ([file]) =>
    linesOf(file?.text ?? '').flatMap((line, i) => {
      if (
        file === undefined ||
        line.trim() === '' ||
        /^Vendor ID\s*\|/.test(line) ||
        line.includes('insert next record')
      )
        return []
      const row =
        /^(?:0x1457 \/ )?0x1d50\s*\|\s*0x([0-9a-f]{4}|[0-9a-f]xxx)(?:\s*-\s*0x([0-9a-f]{4}))?\s*\|(.*)$/i.exec(line)
      const [, from = '', to, text = ''] = row ?? fail(file, i + 1, 'is not "0x1d50 | 0xPPPP | name"')
      const name = unlinked(text)
      return isUnassigned(name) ? [] : [[`1D50:${hex(from)}${to === undefined ? '' : `-${hex(to)}`}`, name]]
    }),
}

const espressif: Registry = {
  id: 'espressif',
  repository: 'espressif/usb-pids',
  vid: '303A',
  licence: 'LicenseRef-none-stated',
  files: (path) => /^allocated-pids[\w-]*\.txt$/.test(path),
  read: (files) =>
    files.flatMap((file) => {
      const lines = linesOf(file.text)
      const start = lines.findIndex((line) => /^PID\s*\|/.test(line))
      if (start < 0) fail(file, 1, 'has no line "PID | Product name"')
      return lines.slice(start + 1).flatMap((line, i): [string, string][] => {
        if (line.trim() === '') return []
        const [, pid = '', name = ''] =
          /^0x([0-9a-f]{4})\s*\|(.*)$/i.exec(line) ?? fail(file, start + i + 2, 'is not "0xPPPP | name"')
        return isUnassigned(clean(name)) ? [] : [[`303A:${hex(pid)}`, clean(name)]]
      })
    }),
}

const raspberryPi: Registry = {
  id: 'raspberrypi',
  repository: 'raspberrypi/usb-pid',
  vid: '2E8A',
  licence: 'BSD-3-Clause',
  files: (path) => path === 'Readme.md',
  read: ([file]) => {
    const lines = linesOf(file?.text ?? '')
    const start = lines.findIndex((line) => /^\|\s*Product ID\s*\|/.test(line))
    if (file === undefined || start < 0)
      return fail(file ?? { path: 'Readme.md', text: '' }, 1, 'has no table of products')
    return lines.slice(start + 2).flatMap((line, i): [string, string, string?][] => {
      // Headings inside the table have no id: `| **0x1000 - 0x1fff** ||||`.
      if (!line.startsWith('|') || /^\|\s*(?:\*\*[^|]*\*\*)?\s*\|[\s|]*$/.test(line)) return []
      const cells = line.split('|').map((cell) => clean(cell.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')))
      const [, pid = ''] =
        /^0x([0-9a-f]{4})$/i.exec(cells[1] ?? '') ?? fail(file, start + i + 3, 'has no product id 0xPPPP')
      const [maker = '', name = ''] = cells.slice(2)
      if (cells.length < 4) fail(file, start + i + 3, 'has fewer than three cells')
      return isUnassigned(name) || isUnassigned(maker) ? [] : [[`2E8A:${hex(pid)}`, name, maker]]
    })
  },
}

const libfido2: Registry = {
  id: 'libfido2',
  repository: 'Yubico/libfido2',
  licence: 'BSD-2-Clause',
  files: (path) => path === 'udev/fidodevs',
  read: ([file]) => {
    const vendors = new Map<string, string>()
    return linesOf(file?.text ?? '').flatMap((line, i): [string, string][] => {
      if (file === undefined || line.trim() === '' || line.startsWith('#')) return []
      const [, kind, vendor = '', id = '', name = ''] =
        /^(vendor|product)\s+(\w+)\s+0x([0-9a-f]{4})\s+(\S.*)$/i.exec(line) ??
        fail(file, i + 1, 'is neither "vendor NAME 0xVVVV text" nor "product NAME 0xPPPP text"')
      if (kind === 'vendor') {
        vendors.set(vendor, hex(id))
        return []
      }
      const vid =
        vendors.get(vendor) ?? fail(file, i + 1, `names the vendor ${vendor}, which no line before it defines`)
      return [[`${vid}:${hex(id)}`, isUnassigned(clean(name)) ? '' : clean(name)]]
    })
  },
}

const ccid: Registry = {
  id: 'ccid',
  repository: 'LudovicRousseau/CCID',
  licence: 'LGPL-2.1-or-later',
  files: (path) => path === 'readers/supported_readers.txt',
  read: ([file]) =>
    linesOf(file?.text ?? '').flatMap((line, i): [string, string][] => {
      if (file === undefined || line.trim() === '' || line.startsWith('#')) return []
      const [, vid = '', pid = '', name = ''] =
        /^0x([0-9a-f]{4}):0x([0-9a-f]{4}):(.*\S.*)$/i.exec(line) ?? fail(file, i + 1, 'is not "0xVVVV:0xPPPP:name"')
      return [[`${hex(vid)}:${hex(pid)}`, clean(name)]]
    }),
}

/** In order of precedence: the lists that assign ids come first. */
export const registries: readonly Registry[] = [pidCodes, openMoko, espressif, raspberryPi, libfido2, ccid]
