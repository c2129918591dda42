import { interfaceSet } from './descriptors.ts'
import type { Subject } from './device-test.ts'
import type { Kind } from './icons.ts'
import type { GenuineRow, Imitation } from './knowledge-types.ts'
import { kindByWords } from './known-kinds.ts'
import { createRowIndex } from './row-index.ts'

/** Minimum number of computers on which a product had only HID interfaces. Fewer may miss another product with its ids. */
const enoughSamples = 20
/** Functions that only another device can have. All others (audio, firmware update, vendor-specific) occur in new revisions. */
const foreign: Readonly<Record<number, string>> = { 2: 'communication', 8: 'mass storage', 224: 'wireless' }
/** Kinds that a HID device can have. A name of another kind belongs to another product with the same ids. */
const hidKinds: ReadonlySet<Kind> = new Set([
  ...(['Keyboard', 'Mouse', 'Media Control', 'Security Key'] as const),
  ...(['Game Controller', 'UPS', 'Barcode Scanner', 'Touchscreen'] as const),
])

const isHidOnly = ({ classes, samples, bcd }: GenuineRow): boolean =>
  (samples === 0 || samples >= enoughSamples) &&
  bcd === undefined &&
  classes.includes('03') &&
  classes.every((code) => code === '03' || code === 'fe' || code === 'ff')

/**
 * Finds devices with the ids of a product that has only HID interfaces, but with storage or a network. Without any HID
 * interface, it may be another product with the same ids, so it is only suspected.
 */
export const createClassSets = (
  rows: readonly GenuineRow[],
  productName?: (vid: string, pid: string) => string | null,
) => {
  const byId = createRowIndex(rows.filter(isHidOnly), (row) => row)
  return (subject: Subject): Imitation[] => {
    const { parsed } = subject
    const { vid, pid } = parsed
    const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
    const others = [...new Set(interfaces.flatMap((i) => foreign[i.class] ?? []))]
    const [row] = others.length === 0 ? [] : byId.find(vid, pid)
    if (row === undefined) return []
    // Stryker disable next-line StringLiteral: The text names no kind.
    const named = kindByWords(productName?.(vid, pid) ?? '')
    if (named !== undefined && !hidKinds.has(named)) return []
    const isDisguised = interfaces.some((i) => i.class === 0x03)
    return [
      {
        level: isDisguised ? 'confirmed' : 'suspected',
        name: isDisguised ? `Imitation of ${row.name}` : `Differs from genuine ${row.name}`,
        row,
        evidence: [
          `has ${others.join(' and ')} (${interfaceSet(parsed)}); a genuine ${row.name} has only HID interfaces`,
        ],
      },
    ]
  }
}
