import { invalid } from '#platform/app-error.ts'

/** `AA:BB:CC:DD:EE:FF` of the ways people write a MAC address; null: it is none. */
const macOf = (text: string): string | null => {
  const isMac = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}|[0-9a-f]{10})$|^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}$/i
  if (!isMac.test(text)) return null
  return (
    text
      .replace(/[^0-9a-f]/gi, '')
      .toUpperCase()
      .match(/../g) ?? []
  ).join(':')
}

const partsOf = (list: string): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Addresses of a comma list, `AA:BB:CC:DD:EE:FF`. */
export const addressesOf = (list: string): ReadonlySet<string> =>
  new Set(partsOf(list).flatMap((part) => macOf(part) ?? []))

/** Refuses a list before it is stored: an address with a slip in it would not be spared. */
export const assertAddresses = (name: string, list: string): void => {
  const wrong = partsOf(list).find((part) => macOf(part) === null)
  if (wrong !== undefined)
    throw invalid(`body.${name}`, `holds ${JSON.stringify(wrong.slice(0, 40))}, which is no MAC address`)
}
