import { invalid } from '@portcullis/platform/server/app-error.ts'

/** Normalises a MAC address to `AA:BB:CC:DD:EE:FF`; null: not a MAC address. */
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

/** Parses a comma-separated list of MAC addresses, in the form `AA:BB:CC:DD:EE:FF`. */
export const addressesOf = (list: string): ReadonlySet<string> =>
  new Set(partsOf(list).flatMap((part) => macOf(part) ?? []))

/** Rejects a list with an invalid address, which would not be excluded from quarantine. */
export const assertAddresses = (name: string, list: string): void => {
  const wrong = partsOf(list).find((part) => macOf(part) === null)
  if (wrong !== undefined)
    throw invalid(`body.${name}`, `contains ${JSON.stringify(wrong.slice(0, 40))}, which is not a MAC address`)
}
