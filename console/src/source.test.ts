// Invariant: The route types the links and search parameters of the console, and no component uses a ref during
//   render.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const folder = import.meta.dirname
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

/** Returns the places in the source that match, as `file:line`. */
const placesOf = (pattern: RegExp): string[] =>
  sources.flatMap(({ name, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${name}:${text.slice(0, index).split('\n').length}`),
  )

const nameOf = (node: ts.Node): string | undefined =>
  ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node)
    ? node.name?.text
    : ts.isVariableDeclaration(node.parent)
      ? node.parent.name.getText()
      : undefined

/** Returns whether code runs during render: its nearest function is a component, a hook, or the callback of useMemo. */
const runsInRender = (node: ts.Node): boolean => {
  let at = node.parent
  while (at !== undefined && !ts.isFunctionLike(at)) at = at.parent
  if (at === undefined) return false
  if (ts.isCallExpression(at.parent)) return at.parent.expression.getText() === 'useMemo'
  return /^([A-Z]|use[A-Z])/.test(nameOf(at) ?? '')
}

/** Returns where a file reads or writes the value of a ref during render. */
const refsInRender = ({ name, text }: { name: string; text: string }): string[] => {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const refs = new Set<string>()
  const found: string[] = []
  const collect = (node: ts.Node) => {
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      ts.isCallExpression(node.initializer) &&
      ['useRef', 'useLatest'].includes(node.initializer.expression.getText())
    )
      refs.add(node.name.getText())
    ts.forEachChild(node, collect)
  }
  const evaluate = (node: ts.Node) => {
    if (
      ts.isPropertyAccessExpression(node) &&
      node.name.text === 'current' &&
      refs.has(node.expression.getText()) &&
      runsInRender(node)
    )
      found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    ts.forEachChild(node, evaluate)
  }
  collect(file)
  evaluate(file)
  return found
}

/** Returns the named functions of a file whose name matches, with their lines. */
const functionsOf = ({ name, text }: { name: string; text: string }, pattern: RegExp) => {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const found: { place: string; lines: number }[] = []
  const visit = (node: ts.Node) => {
    if (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node)) {
      const called = nameOf(node)
      if (called !== undefined && pattern.test(called))
        found.push({ place: `${name} ${called}`, lines: lineOf(node.getEnd()) - lineOf(node.getStart()) + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** Returns the functions with more than `most` lines. */
const longFunctions = (files: typeof sources, pattern: RegExp, most: number): string[] =>
  files.flatMap((file) =>
    functionsOf(file, pattern).flatMap(({ place, lines }) => (lines > most ? [`${place}: ${lines} lines`] : [])),
  )

const component = /^[A-Z]/
const hook = /^use[A-Z]/

describe('the source of the console', () => {
  it('has no casts to never, which would turn off the types of addresses and operations', () => {
    expect(placesOf(/ as never\b/g)).toEqual([])
  })

  it('reads search and path parameters by their route', () => {
    expect(placesOf(/strict: false/g)).toEqual([])
  })

  it('neither reads nor writes refs during render', () => {
    expect(refsInRender({ name: 'a.tsx', text: 'const A = () => { const r = useRef(1); return r.current }' })).toEqual([
      'a.tsx:1',
    ])
    expect(sources.filter(({ text }) => text.includes('.current')).flatMap(refsInRender)).toEqual([])
  })

  it('has no component over 100 lines', () => {
    const long = { name: 'a.tsx', text: `const A = () => {\n${'\n'.repeat(98)}}\nfunction B() {\n${'\n'.repeat(99)}}` }
    expect(longFunctions([long], component, 100)).toEqual(['a.tsx B: 101 lines'])
    expect(longFunctions(sources, component, 100)).toEqual([])
  })

  it('has no hook over 80 lines', () => {
    expect(longFunctions(sources, hook, 80)).toEqual([])
  })
})
