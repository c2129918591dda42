import { createHash } from 'node:crypto'

/** Texts that board vendors and image builders leave in place of an identifier or a name. */
const texts = new Set([
  ...['uninitialized', 'undefined', 'unknown', 'unspecified', 'invalid', 'empty', 'null', 'none', 'n/a', 'na', 'tbd'],
  ...['not set', 'not settable', 'not specified', 'not present', 'not available', 'not applicable', 'not provided'],
  ...[
    'default',
    'default string',
    'default_string',
    'o.e.m.',
    'oem',
    'oem string',
    'no asset information',
    'asset tag',
  ],
  ...['to be filled by o.e.m.', 'to be filled by o.e.m', 'to be filled by oem', 'to be filled', 'tobefilledbyo.e.m.'],
  ...['system manufacturer', 'system product name', 'system version', 'system serial number', 'system sku number'],
  ...['system name', 'system sku', 'system uuid', 'sku number', 'serial number', 'product name', 'manufacturer'],
  ...['base board manufacturer', 'base board product name', 'base board serial number', 'board serial number'],
  ...['chassis manufacturer', 'chassis serial number', 'chassis sku number', 'chassis version', 'sernum0'],
  ...['0123456789', '123456789', '1234567890', '12345678', '0123456789abcdef', '123456789abcdef', '1234567890abcdef'],
])

const shape = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/
/** Firmware swaps the bytes of the first three parts, depending on its age. */
const swapped = (hex: string): string => hex.replace(/^(..)(..)(..)(..)(..)(..)(..)(..)/, '$4$3$2$1$6$5$8$7')

/** UUIDs that vendors ship on many boards, and examples of manuals, as 32 hex digits in either byte order. */
const uuids = new Set(
  [
    // American Megatrends ships the first one where the vendor filled in no MAC address.
    ...['03000200-0400-0500-0006-000700080009', '03020100-0504-0706-0809-0a0b0c0d0e0f'],
    ...['10000000-0000-8000-0040-000000000000', '12345678-1234-5678-90ab-cddeefaabbcc'],
    ...['12345678-1234-5678-1234-567812345678', '12345678-1234-5678-1234-56789abcdef0'],
    ...['12345678-1234-1234-1234-123456789abc', '12345678-1234-1234-1234-123456789012'],
    ...['01234567-89ab-cdef-0123-456789abcdef', '00112233-4455-6677-8899-aabbccddeeff'],
    ...['deadbeef-dead-beef-dead-beefdeadbeef', '11111111-2222-3333-4444-555555555555'],
    // The example of the manual page machine-id(5).
    'b08dfa60-83e7-567a-1921-a715000001fb',
  ]
    .map((uuid) => uuid.replaceAll('-', ''))
    .flatMap((hex) => [hex, swapped(hex)]),
)

const folded = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** Returns whether a text stands in place of a missing vendor, model or serial number, such as `Default string`. */
export const isPlaceholder = (text: string): boolean => texts.has(folded(text)) || /^[0x._\s-]*$/i.test(text)

const sha256 = (value: string): string => createHash('sha256').update(`portcullis:${value}`).digest('hex')

/**
 * Returns the SHA-256 (hex) of `portcullis:` and a machine identifier, or null without an identifier. Placeholders,
 * which are the same on thousands of machines, identify none.
 */
export const machineHash = (identifier: string | undefined): string | null => {
  const value = identifier?.trim().toLowerCase() ?? ''
  const digits = value.replace(/[^0-9a-z]/g, '')
  const repeats = /^(.)\1*$/.test(digits) || /^(..)\1{15}$/.test(digits)
  return digits === '' || repeats || texts.has(folded(value)) || uuids.has(digits) ? null : sha256(value)
}

/** Hashes that agents of earlier versions report for placeholders. */
export const placeholderHashes: ReadonlySet<string> = new Set(
  [
    ...texts,
    ...[...uuids, ...Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0').repeat(16))].flatMap(
      (hex) => [hex, hex.replace(shape, '$1-$2-$3-$4-$5')],
    ),
  ].map(sha256),
)

/** Returns the hash of a machine identifier, or null if it is the hash of a placeholder. */
export const knownMachineHash = (hash: string | null): string | null =>
  hash === null || placeholderHashes.has(hash) ? null : hash
