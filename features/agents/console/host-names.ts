import { strings } from './strings.ts'

/** Maximum number of names, as in the contract. */
const mostNames = 2_000
/** Number of names that a message shows. */
const shownNames = 3

/** Returns the different names in a text, separated by lines, spaces or commas. */
export const namesIn = (text: string): string[] => [
  ...new Map(
    text
      .split(/[\s,]+/)
      .filter((name) => name !== '')
      .map((name) => [name.toLowerCase(), name]),
  ).values(),
]

/** Returns why a text is not a list of host names, or null. */
export const hostsFault = (text: string): string | null => {
  const names = namesIn(text)
  const bad = names.filter((name) => !/^[A-Za-z0-9._-]{1,255}$/.test(name))
  if (bad.length > 0) return strings.invalidHostNames({ names: bad.slice(0, shownNames).join(', ') })
  return names.length > mostNames ? strings.tooManyHostNames({ max: mostNames }) : null
}
