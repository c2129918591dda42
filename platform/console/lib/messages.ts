import { IntlMessageFormat, type PrimitiveType } from 'intl-messageformat'
import { createElement, Fragment, type ReactNode } from 'react'
import { isPseudo, language } from './locale.ts'
import { pseudoMessage, pseudoText } from './pseudo.ts'

/** The text before the first comma. */
type Name<S extends string> = S extends `${infer N},${string}` ? N : S
/** The text after the branches of a plural or select, which contain no arguments. */
type AfterBranches<S extends string> = S extends `${string}{${string}}${infer Rest}`
  ? Rest extends `${infer Gap}}${infer After}`
    ? Gap extends `${string}{${string}`
      ? AfterBranches<Rest>
      : After
    : ''
  : ''
/** The arguments of an ICU message as pairs of name and type. */
type Arguments<S extends string> = S extends `${string}{${infer Rest}`
  ? Rest extends `${infer Head}}${infer Tail}`
    ? Head extends `${infer N}, ${infer Kind}`
      ? Kind extends `${'plural' | 'selectordinal'},${string}`
        ? [N, number] | Arguments<AfterBranches<Rest>>
        : Kind extends `select,${string}`
          ? [N, string] | Arguments<AfterBranches<Rest>>
          : [N, number] | Arguments<Tail>
      : [Name<Head>, ReactNode] | Arguments<Tail>
    : never
  : never
/** The tags of a message: `<link>text</link>` needs a function that renders it. */
type Tags<S extends string> = S extends `${string}</${infer N}>${infer Rest}`
  ? [N, (text: ReactNode) => ReactNode] | Tags<Rest>
  : never
type Pairs<S extends string> = Arguments<S> | Tags<S>
type Values<S extends string> = { [P in Pairs<S> as P[0]]: P[1] }

/** Formats a message. The result is a string unless a value is an element or renders one. */
type Format<S extends string> = <V extends Values<S>>(
  values: V,
) => [V[keyof Values<S> & keyof V]] extends [string | number] ? string : ReactNode

/** The texts of a part of the console: strings, or functions of the values in their messages. */
export type Messages<T extends Record<string, string>> = {
  readonly [K in keyof T]: [Pairs<T[K]>] extends [never] ? string : Format<T[K]>
}

const isPlain = (text: string): boolean => !/[{<]/.test(text)

const formatOf = (text: string) => {
  let compiled: IntlMessageFormat | undefined
  return (values: Record<string, unknown>): ReactNode => {
    compiled ??= compile(text)
    const parts: unknown = compiled.format(keyed(values) as Record<string, PrimitiveType>)
    return Array.isArray(parts) ? createElement(Fragment, null, ...(parts as ReactNode[])) : (parts as ReactNode)
  }
}

const compile = (text: string): IntlMessageFormat => {
  const message = new IntlMessageFormat(text, language)
  return isPseudo ? new IntlMessageFormat(pseudoMessage(message.getAst()), language) : message
}

/** Joins the parts that the formatter passes to a tag into one React node. */
const keyed = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? (parts: ReactNode[]) => (value as (text: ReactNode) => ReactNode)(createElement(Fragment, null, ...parts))
        : value,
    ]),
  )

/** Returns a text of the contract in the language of the console. */
export const translated = (text: string): string => (isPseudo ? pseudoText(text) : text)

/**
 * Declares the texts of a part of the console as ICU messages. TypeScript reads the values that a message needs from its text:
 * `{count, plural, one {# host} other {# hosts}}` takes a number, `{name}` a string, a number or an element, and
 * `<link>text</link>` a function. Branches of a plural or select contain no arguments other than `#`.
 */
export const messages = <const T extends Record<string, string>>(texts: T): Messages<T> =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [
      key,
      isPlain(text) ? (isPseudo ? pseudoText(text) : text) : formatOf(text),
    ]),
  ) as Messages<T>

/** Returns a function that declares texts in addition to `shared` ones. A text replaces the shared one with the same name. */
export const extendMessages =
  <W extends object>(shared: W) =>
  <const T extends Record<string, string>>(texts: T): Omit<W, keyof T> & Messages<T> => ({
    ...shared,
    ...messages(texts),
  })
