/** Finds every regular expression in the sources: literals, constructor calls, and schema patterns. */
import ts from 'typescript'
import { placeOf, type SourceFile, walk } from './files.ts'

export interface Expression {
  source: string
  flags: string
  places: string[]
}

type Constants = ReadonlyMap<string, ts.Expression>

/** Returns the value of an expression of constant strings, or undefined if it has other parts. */
const constantText = (node: ts.Expression | undefined, constants: Constants): string | undefined => {
  if (node === undefined) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) return constantText(constants.get(node.text), constants)
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return joined([constantText(node.left, constants), constantText(node.right, constants)])
  if (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'join'
  ) {
    const { expression: given } = node.expression
    const list = ts.isIdentifier(given) ? constants.get(given.text) : given
    if (list === undefined || !ts.isArrayLiteralExpression(list)) return undefined
    return joined(
      list.elements.map((one) => constantText(one, constants)),
      constantText(node.arguments[0], constants),
    )
  }
  const isRaw = ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'String.raw'
  const template = isRaw ? node.template : node
  const textOf = (part: ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail | ts.NoSubstitutionTemplateLiteral) =>
    isRaw ? part.rawText : part.text
  if (ts.isNoSubstitutionTemplateLiteral(template)) return textOf(template)
  if (!ts.isTemplateExpression(template)) return undefined
  const spans = template.templateSpans.flatMap(({ expression, literal }) => [
    constantText(expression, constants),
    textOf(literal),
  ])
  return joined([textOf(template.head), ...spans])
}

const joined = (parts: readonly (string | undefined)[], between: string | undefined = ''): string | undefined =>
  parts.includes(undefined) ? undefined : parts.join(between)

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
  const constantsOf = (tree: ts.SourceFile): Map<string, ts.Expression> => {
    const constants = new Map<string, ts.Expression>()
    walk(tree, (node) => {
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
        constants.set(node.name.text, node.initializer)
    })
    return constants
  }
  const byFile = new Map(files.map((file) => [file.path, constantsOf(file.tree)]))
  for (const file of files) {
    const own = byFile.get(file.path) ?? new Map<string, ts.Expression>()
    const constants = new Map(own)
    for (const statement of file.tree.statements) {
      const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined
      if (bindings === undefined || !ts.isNamedImports(bindings)) continue
      const from = (statement as ts.ImportDeclaration).moduleSpecifier.getText().split('/').at(-1)?.slice(0, -1)
      const [, source] = [...byFile].find(([path]) => path.endsWith(`/${from}`)) ?? []
      for (const { name } of bindings.elements) {
        const value = source?.get(name.text)
        if (value !== undefined && !own.has(name.text)) constants.set(name.text, value)
      }
    }
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
