/**
 * Parses the text form of a condition on the rows of a list, for the server and the console (ADR 131):
 * `Status:Armed AND NOT (Hashtags:"front desk,lab" OR kiosk)`. A term is a filter with a value in the syntax of that
 * filter, or a search word.
 */

/** Limits of a query. */
export const queryLimits = { length: 2_000, depth: 8, terms: 50 } as const

/** A condition. `at` is the index of the term in the text. */
export type QueryTree =
  | { kind: 'filter'; name: string; value: string; at: number }
  | { kind: 'search'; value: string; at: number }
  | { kind: 'not'; of: QueryTree }
  | { kind: 'and' | 'or'; of: readonly QueryTree[] }

/** What is wrong with a query, and the index in its text. */
export interface QueryFault {
  at: number
  message: string
}

interface Token {
  kind: '(' | ')' | 'and' | 'or' | 'not' | 'term' | 'end'
  at: number
  /** Name of the filter of a term. Absent: a search word. */
  name?: string
  value: string
}

class Fault extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

const operators: ReadonlySet<string> = new Set(['and', 'or', 'not'])

/** Returns the quoted text that begins at `from`, and the index after it. `\"` and `\\` are a quote and a backslash. */
const quoted = (text: string, from: number): { value: string; end: number } => {
  const match = /"((?:[^"\\]|\\["\\])*)"/y
  match.lastIndex = from
  const found = match.exec(text)
  if (found !== null) return { value: (found[1] ?? '').replace(/\\(["\\])/g, '$1'), end: match.lastIndex }
  const bad = /"(?:[^"\\]|\\["\\])*\\(?!["\\])/y
  bad.lastIndex = from
  if (bad.test(text)) throw new Fault(bad.lastIndex - 1, 'a backslash in quotes must be written as \\\\')
  throw new Fault(from, 'the quotes are not closed')
}

/** Returns the unquoted text that begins at `from`, and the index after it. */
const plain = (text: string, from: number, isNamed: boolean): { value: string; end: number } => {
  const match = /[^\s()"]*/y
  match.lastIndex = from
  const value = match.exec(text)?.[0] ?? ''
  const end = from + value.length
  if (!isNamed && operators.has(value.toLowerCase()) && text[end] === '(') return { value, end }
  if (text[end] === '(' || text[end] === '"')
    throw new Fault(end, `text with ${text[end] === '"' ? 'quotes' : 'parentheses'} must be in quotes`)
  // Otherwise, `Status:Armed, Free` would search for "Free".
  if (value.endsWith(',')) throw new Fault(end, 'a list with spaces must be in quotes')
  return { value, end }
}

const term = (text: string, at: number): { token: Token; end: number } => {
  const name = /([A-Za-z]\w{0,63}):/y
  name.lastIndex = at
  const given = name.exec(text)?.[1]
  const from = given === undefined ? at : at + given.length + 1
  const isQuoted = text[from] === '"'
  if (given !== undefined && (from === text.length || /[\s()]/.test(text.charAt(from))))
    throw new Fault(from, `a value must follow ${given}: without a space`)
  const { value, end } = isQuoted ? quoted(text, from) : plain(text, from, given !== undefined)
  if (isQuoted && end < text.length && !/[\s)]/.test(text.charAt(end)))
    throw new Fault(end, 'a space must follow the quotes')
  if (value.trim() === '') throw new Fault(from, 'the quotes must contain text')
  const lower = value.toLowerCase()
  const kind = given === undefined && !isQuoted && operators.has(lower) ? (lower as 'and' | 'or' | 'not') : 'term'
  return { token: { kind, at, value, ...(given === undefined ? {} : { name: given }) }, end }
}

const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text.charAt(at)
    if (/\s/.test(char)) at += 1
    else if (char === '(' || char === ')') tokens.push({ kind: char, at: at++, value: char })
    else {
      const { token, end } = term(text, at)
      tokens.push(token)
      at = end
    }
  }
  return [...tokens, { kind: 'end', at: text.length, value: '' }]
}

/** NOT binds tighter than AND, and AND tighter than OR. Two terms without an operator mean AND. */
const createReader = (tokens: readonly Token[]) => {
  let next = 0
  let terms = 0
  const peek = (): Token => tokens[next] as Token

  function one(depth: number): QueryTree {
    const { kind, at, name, value } = peek()
    if (depth > queryLimits.depth)
      throw new Fault(at, `parentheses and NOT can be nested at most ${queryLimits.depth} times`)
    if (kind === 'not') {
      next += 1
      return { kind: 'not', of: one(depth + 1) }
    }
    if (kind === '(') {
      next += 1
      const inner = either(depth + 1)
      if (peek().kind !== ')') throw new Fault(at, 'the parenthesis is not closed')
      next += 1
      return inner
    }
    if (kind !== 'term') {
      const before = tokens[next - 1]
      throw new Fault(
        at,
        before === undefined || before.kind === 'term' || before.kind === ')'
          ? `a filter or a word must come before ${value.toUpperCase()}`
          : `a filter or a word must follow ${before.value.toUpperCase()}`,
      )
    }
    next += 1
    terms += 1
    if (terms > queryLimits.terms) throw new Fault(at, `a query can have at most ${queryLimits.terms} terms`)
    return name === undefined ? { kind: 'search', value, at } : { kind: 'filter', name, value, at }
  }

  function all(depth: number): QueryTree {
    const of = [one(depth)]
    while (['and', 'not', 'term', '('].includes(peek().kind)) {
      if (peek().kind === 'and') next += 1
      of.push(one(depth))
    }
    return of.length === 1 ? (of[0] as QueryTree) : { kind: 'and', of }
  }

  function either(depth: number): QueryTree {
    const of = [all(depth)]
    while (peek().kind === 'or') {
      next += 1
      of.push(all(depth))
    }
    return of.length === 1 ? (of[0] as QueryTree) : { kind: 'or', of }
  }

  return {
    whole: (): QueryTree => {
      const tree = either(0)
      const { kind, at } = peek()
      if (kind !== 'end') throw new Fault(at, 'no opening parenthesis matches this one')
      return tree
    },
  }
}

/** Parses a query. Blank text is a fault; callers omit a blank query. */
export const parseQuery = (text: string): { tree: QueryTree } | { fault: QueryFault } => {
  try {
    if (text.length > queryLimits.length)
      throw new Fault(queryLimits.length, `a query can have at most ${queryLimits.length} characters`)
    if (text.trim() === '') throw new Fault(0, 'the query must contain a filter or a word')
    return { tree: createReader(tokensOf(text)).whole() }
  } catch (error) {
    if (error instanceof Fault) return { fault: { at: error.at, message: error.message } }
    throw error
  }
}

/** Returns the terms of a condition, from left to right. */
export const termsOf = (tree: QueryTree): Extract<QueryTree, { at: number }>[] =>
  tree.kind === 'not' ? termsOf(tree.of) : 'of' in tree ? tree.of.flatMap(termsOf) : [tree]

/** Returns the message of a fault with its position, counted from 1. */
export const faultText = ({ at, message }: QueryFault): string => `at character ${at + 1}: ${message}`
