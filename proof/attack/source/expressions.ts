/** Finds every regular expression in the sources: literals, constructor calls, and schema patterns. */
import ts from 'typescript'
import { placeOf, type SourceFile, walk } from './files.ts'

export interface Expression {
  source: string
  flags: string
  places: string[]
}

/** Returns the value of an expression of constant strings, or undefined if it has other parts. */
const constantText = (
  node: ts.Expression | undefined,
  constants: ReadonlyMap<string, ts.Expression>,
): string | undefined => {
  if (node === undefined) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) return constantText(constants.get(node.text), constants)
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw')
    return ts.isNoSubstitutionTemplateLiteral(node.template) ? node.template.rawText : undefined
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [constantText(node.left, constants), constantText(node.right, constants)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  if (!ts.isTemplateExpression(node)) return undefined
  let text = node.head.text
  for (const span of node.templateSpans) {
    const part = constantText(span.expression, constants)
    if (part === undefined) return undefined
    text += part + span.literal.text
  }
  return text
}

/** An expression whose text is known only at run time. */
export interface Unknown {
  place: string
  /** Source code of the argument that the expression is built from. */
  of: string
}

/** Returns all expressions with their locations. */
export const expressionsOf = (files: readonly SourceFile[]): { known: Expression[]; unknown: Unknown[] } => {
  const found = new Map<string, Expression>()
  const unknown: Unknown[] = []
  for (const file of files) {
    const constants = new Map<string, ts.Expression>()
    walk(file.tree, (node) => {
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
        constants.set(node.name.text, node.initializer)
    })
    const add = (source: string, flags: string, node: ts.Node): void => {
      const key = `${flags}/${source}`
      const known = found.get(key) ?? { source, flags, places: [] }
      known.places.push(placeOf(file, node))
      found.set(key, known)
    }
    walk(file.tree, (node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        add(node.text.slice(1, end), node.text.slice(end + 1), node)
      }
      const isConstruction = ts.isNewExpression(node) || ts.isCallExpression(node)
      if (isConstruction && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp') {
        const source = constantText(node.arguments?.[0], constants)
        if (source === undefined) unknown.push({ place: placeOf(file, node), of: node.arguments?.[0]?.getText() ?? '' })
        else add(source, constantText(node.arguments?.[1], constants) ?? '', node)
      }
      // Schema patterns are compiled with the flag u.
      if (ts.isPropertyAssignment(node) && node.name.getText() === 'pattern' && file.path.includes('contract/')) {
        const source = constantText(node.initializer, constants)
        if (source !== undefined) add(source, 'u', node)
        else if (ts.isIdentifier(node.initializer) || ts.isTemplateExpression(node.initializer))
          unknown.push({ place: placeOf(file, node), of: node.initializer.getText() })
      }
    })
  }
  return { known: [...found.values()], unknown }
}
