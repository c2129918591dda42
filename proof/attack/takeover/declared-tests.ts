import ts from 'typescript'

/** A test that a file declares. */
interface DeclaredTest {
  /** Matches the titles of its suites and its own, joined by ` > ` as Vitest prints them. */
  name: RegExp
  isSkipped: boolean
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Returns the names of a call such as `describe.skip` or `it.each([…])`. */
const calledNames = (node: ts.Expression): string[] => {
  if (ts.isIdentifier(node)) return [node.text]
  if (ts.isPropertyAccessExpression(node)) return [...calledNames(node.expression), node.name.text]
  return ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node)
    ? calledNames(ts.isCallExpression(node) ? node.expression : node.tag)
    : []
}

/** Returns a pattern for a title, in which values that are known at run time only match any text. */
const patternOf = (title: ts.Expression | undefined, isRepeated: boolean): string | undefined => {
  if (title === undefined) return undefined
  if (ts.isTemplateExpression(title))
    return [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)].map(escaped).join('.*')
  if (!ts.isStringLiteralLike(title)) return undefined
  return isRepeated
    ? title.text
        .split(/%[sdifjo#$]|\$[\w.]+/)
        .map(escaped)
        .join('.*')
    : escaped(title.text)
}

/** Returns the tests that the text of a test file declares. */
export const declaredTests = (text: string): DeclaredTest[] => {
  const found: DeclaredTest[] = []
  const visit = (node: ts.Node, suites: readonly string[], isSkipped: boolean): void => {
    if (ts.isCallExpression(node)) {
      const [kind = '', ...modifiers] = calledNames(node.expression)
      const pattern = patternOf(node.arguments[0], modifiers.includes('each') || modifiers.includes('for'))
      if (pattern !== undefined && /^(?:describe|it|test|\w+Test)$/.test(kind)) {
        const isOff = isSkipped || modifiers.some((one) => one !== 'each' && one !== 'for')
        if (kind !== 'describe')
          found.push({ name: new RegExp(`^${[...suites, pattern].join(' > ')}$`, 's'), isSkipped: isOff })
        else for (const argument of node.arguments) visit(argument, [...suites, pattern], isOff)
        return
      }
    }
    ts.forEachChild(node, (child) => visit(child, suites, isSkipped))
  }
  visit(ts.createSourceFile('tests.ts', text, ts.ScriptTarget.Latest, true), [], false)
  return found
}
