import {
  type ConfigGroup,
  type ConfigGroupName,
  type ConfigItem,
  type ConfigMap,
  configGroups,
  settingLabel,
} from '#features/contract.ts'
import { strings } from './strings.ts'

/** Unsaved changes. Untouched items follow the server. */
export interface Edits {
  /** Texts by name of item; for a secret, the new one. */
  texts: Readonly<Record<string, string>>
  /** Secrets to remove. */
  removed: readonly string[]
  /** Values of the edited items when editing began. */
  read: Readonly<Record<string, string>>
}

export const noEdits: Edits = { texts: {}, removed: [], read: {} }

/** Returns the edits with the value of an item before its first edit. */
export const edited = (edits: Edits, name: string, stored: ConfigMap): Edits => ({
  ...edits,
  read: { [name]: stored[name] ?? '', ...edits.read },
})

/** Returns the edits after a conflict showed the current values. */
export const rereadBy = (edits: Edits, now: ConfigMap): Edits => ({
  ...edits,
  read: Object.fromEntries(Object.keys(edits.read).map((name) => [name, now[name] ?? ''])),
})

/** Returns the items of a group in the order of their form; `names`: only these, in this order. */
export const itemsOf = (group: ConfigGroupName, names?: readonly string[]): [name: string, item: ConfigItem][] => {
  const items: Readonly<Record<string, ConfigItem>> = configGroups[group].items
  return names === undefined
    ? Object.entries(items)
    : names.flatMap((name) => (items[name] === undefined ? [] : [[name, items[name]]]))
}

/** Returns the items by section, in the order of the first item of each. Items without a section come first. */
export const sectionsOf = (items: readonly [name: string, item: ConfigItem][]) => [
  ...Map.groupBy(items, ([, { section = '' }]) => section),
]

/** Returns a number with its unit, such as `1 job` or `30 s`. */
const amountText = (value: string, unit: string | undefined): string =>
  `${Number(value).toLocaleString('en')}${unit === undefined ? '' : ` ${value === '1' ? unit.replace(/(?<=..)s$/, '') : unit}`}`

/** Returns the default of a number with its unit; null for other settings. */
export const defaultText = ({ kind, default: value, unit }: ConfigItem): string | null =>
  (kind === 'integer' || kind === 'share') && value !== '' ? amountText(value, unit) : null

const itemByName = new Map(Object.values<ConfigGroup>(configGroups).flatMap(({ items }) => Object.entries(items)))

const isSecret = (name: string): boolean => itemByName.get(name)?.kind === 'secret'

/** Returns a message with the labels of items instead of their names. */
export const withLabels = (message: string): string =>
  message.replace(/\b(?:body\.)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g, (whole, name: string) =>
    itemByName.has(name) ? `“${settingLabel(name)}”` : whole,
  )

/** Returns the text of a field. For a secret, only what is entered now. */
export const shownText = (name: string, stored: ConfigMap, edits: Edits): string =>
  edits.texts[name] ?? (isSecret(name) ? '' : (stored[name] ?? ''))

/** Returns the values as they would be after saving. */
export const textsAfter = (group: ConfigGroupName, stored: ConfigMap, edits: Edits): Record<string, string> =>
  Object.fromEntries(itemsOf(group).map(([name]) => [name, shownText(name, stored, edits)]))

/** Returns the body of a change: only what differs. */
export const bodyOf = (group: ConfigGroupName, stored: ConfigMap, edits: Edits): Record<string, string | null> => {
  const body: Record<string, string | null> = {}
  for (const [name, { kind }] of itemsOf(group)) {
    const text = edits.texts[name]
    if (kind === 'secret') {
      if (text !== undefined && text !== '') body[name] = text
      else if (edits.removed.includes(name) && stored[name] !== '') body[name] = null
    } else if (text !== undefined && text !== (stored[name] ?? '')) body[name] = text
  }
  return body
}

/** Returns the body without secrets, for a command that is copied. */
export const shownBody = (body: Readonly<Record<string, string | null>>): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value !== null && isSecret(name) ? `$${name}` : value]),
  )

export interface Difference {
  name: string
  from: string
  to: string
}

/** Returns the differences of a change; for secrets, what happens to them. */
export const differencesOf = (body: Readonly<Record<string, string | null>>, stored: ConfigMap): Difference[] =>
  Object.entries(body).map(([name, value]) => {
    if (!isSecret(name)) return { name, from: stored[name] ?? '', to: value ?? '' }
    const isSet = (stored[name] ?? '') !== ''
    const to = value === null ? '' : isSet ? strings.secretReplaced : strings.secretSet
    return { name, from: isSet ? strings.secretSet : '', to }
  })

/** Returns whether a change moves something that was set. A first entry moves nothing. */
export const isMoved = (body: object, stored: ConfigMap, names: readonly string[]): boolean =>
  names.slice(0, 1).every((name) => stored[name] !== '') && names.some((name) => Object.hasOwn(body, name))

/** Returns the fault of a number or a long text. The server checks everything else. */
export const faultOf = ({ kind, range, max }: ConfigItem, text: string): string | null => {
  if (text === '') return null
  if (text.length > max) return strings.tooLong({ length: text.length, max })
  if (kind === 'integer' && range !== undefined) {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < range[0] || value > range[1])
      return strings.badInteger({ min: range[0], max: range[1] })
  }
  if (kind === 'share' && !(/^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 1)) return strings.badShare
  return null
}
