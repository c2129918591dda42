import {
  type ConfigGroup,
  type ConfigGroupName,
  type ConfigItem,
  type ConfigMap,
  configGroups,
  groupOfItem,
} from '@portcullis/contract'
import { strings } from './strings.ts'

/** What somebody entered and did not save yet. What he did not touch follows the server. */
export interface Edits {
  /** Texts by name of item; of a secret the new one. */
  texts: Readonly<Record<string, string>>
  /** Secrets to be taken away. */
  removed: readonly string[]
}

export const noEdits: Edits = { texts: {}, removed: [] }

/** Items of a group, in the order of their form. */
export const itemsOf = (group: ConfigGroupName): [name: string, item: ConfigItem][] =>
  Object.entries((configGroups[group] as ConfigGroup).items)

const itemByName = new Map(Object.values<ConfigGroup>(configGroups).flatMap(({ items }) => Object.entries(items)))

/** What people read in place of the name of an item; the name itself where it is none. */
export const labelOf = (name: string): string => itemByName.get(name)?.label ?? name

/** The same with the page it stands on, where pages are mixed. */
export const placedLabelOf = (name: string): string => {
  const group = groupOfItem(name)
  return group === undefined ? name : `${configGroups[group].title}: ${labelOf(name)}`
}

const isSecret = (name: string): boolean => itemByName.get(name)?.kind === 'secret'

/** The same sentence with items by what people call them. */
export const inWords = (message: string): string =>
  message.replace(/\b(?:body\.)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g, (whole, name: string) =>
    itemByName.has(name) ? `“${labelOf(name)}”` : whole,
  )

/** What a field shows. Of a secret nothing but what is entered now. */
export const shownText = (name: string, stored: ConfigMap, edits: Edits): string =>
  edits.texts[name] ?? (isSecret(name) ? '' : (stored[name] ?? ''))

/** Values as they would count after saving; for a preview. */
export const textsAfter = (group: ConfigGroupName, stored: ConfigMap, edits: Edits): Record<string, string> =>
  Object.fromEntries(itemsOf(group).map(([name]) => [name, shownText(name, stored, edits)]))

/** The body of a change: only what differs. */
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

/** The same body without secrets, for a command that is copied. */
export const shownBody = (body: Readonly<Record<string, string | null>>): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, value !== null && isSecret(name) ? `$${name}` : value]),
  )

export interface Difference {
  name: string
  from: string
  to: string
}

/** What a change comes to, secrets by what happens to them. */
export const differencesOf = (body: Readonly<Record<string, string | null>>, stored: ConfigMap): Difference[] =>
  Object.entries(body).map(([name, value]) => {
    if (!isSecret(name)) return { name, from: stored[name] ?? '', to: value ?? '' }
    const isSet = (stored[name] ?? '') !== ''
    return { name, from: isSet ? 'set' : '', to: value === null ? '' : isSet ? 'set anew' : 'set' }
  })

/** Whether a change moves something that was set: a first entry takes nothing away from anybody. */
export const isMoved = (body: object, stored: ConfigMap, names: readonly string[]): boolean =>
  stored[names[0] as string] !== '' && names.some((name) => Object.hasOwn(body, name))

/** What is wrong with a number before the server is asked; it judges everything else. */
export const faultOf = ({ kind, range, max }: ConfigItem, text: string): string | null => {
  if (text === '') return null
  if (text.length > max) return strings.hasTextCharactersAtMostMax({ text: text.length, max })
  if (kind === 'integer' && range !== undefined) {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < range[0] || value > range[1])
      return strings.isNoWholeNumberFromValue({ value: range[0], value2: range[1] })
  }
  if (kind === 'share' && !(/^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 1)) return strings.isNoNumberFrom0To
  return null
}
