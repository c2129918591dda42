import type { IntlMessageFormat } from 'intl-messageformat'

type Elements = ReturnType<IntlMessageFormat['getAst']>

const plain = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const accented = 'ÀƁĆĎÉƑĜĤÎĴĶĹḾŃÔṔɊŔŚŤÛṼŴẊÝŽàƀćďéƒĝĥîĵķĺḿńôṕɋŕśťûṽŵẋýž'
const growth = 0.4
/** `TYPE.literal` of the parser: text between arguments. */
const literal = 0

const accent = (text: string): string =>
  Array.from(text, (letter) => {
    const at = plain.indexOf(letter)
    return at === -1 ? letter : (accented[at] ?? letter)
  }).join('')

/** Returns text in the pseudo-locale: accented and 40 % longer. */
export const pseudoText = (text: string): string => {
  const letters = text.replaceAll(/[^A-Za-z]/g, '').length
  return accent(text) + '·'.repeat(Math.ceil(letters * growth))
}

/** Returns a parsed message with its literal parts in the pseudo-locale. */
export const pseudoMessage = (elements: Elements): Elements =>
  elements.map((element) => {
    if ('children' in element) return { ...element, children: pseudoMessage(element.children) }
    if ('options' in element) return { ...element, options: pseudoOptions(element.options) }
    return element.type === literal ? { ...element, value: pseudoText(element.value) } : element
  }) as Elements

const pseudoOptions = (options: Record<string, { value: Elements }>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, { ...option, value: pseudoMessage(option.value) }]),
  )
