/** Reads every bar of benchmarks, drills and gates from their syntax trees, with constants replaced by their values. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

export interface Bar {
  /** Name of the check or benchmark. For a file that several checks share, its path. */
  check: string
  figure: string
  /** The comparison, such as "<= 250". */
  bar: string
  /** True if the short form has a different value. Only amounts of work may differ. */
  isShortened: boolean
  /** True if the figure has a different name in the short form. */
  isAmount: boolean
  /** True if the bar is an argument of a call, and its figure is elsewhere. */
  isPassedOn: boolean
  /** Identical for figures that exclude each other. */
  choice?: string
}

type Trees = ReadonlyMap<string, ts.SourceFile>

const folders = ['bench', 'drill', 'gate', 'rig', 'scripts/devices']
/** Files that define the bar types but have no bars. */
const machinery = /^(?:rig\/(?:verdict|run-checks|self-test)|bench\/result)\.ts$/

const readTrees = (root: string): Trees =>
  new Map(
    folders
      .filter((folder) => existsSync(join(root, folder)))
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('node_modules'))
          .map((name) => `${folder}/${name}`)
          .filter((path) => existsSync(join(root, path)) && !machinery.test(path))
          .map((path) => {
            const text = readFileSync(join(root, path), 'utf8')
            return [path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)] as const
          }),
      ),
  )

const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

const propertyOf = (object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined => {
  for (const one of object.properties)
    if (ts.isPropertyAssignment(one) && one.name.getText() === name) return one.initializer
    else if (ts.isShorthandPropertyAssignment(one) && one.name.text === name) return one.name
  return undefined
}

const ancestors = function* (node: ts.Node): Generator<ts.Node> {
  for (let at: ts.Node | undefined = node.parent; at !== undefined; at = at.parent) yield at
}

type Found =
  | { is: 'value'; expression: ts.Expression }
  | { is: 'parameter'; of: ts.SignatureDeclaration; index: number; path: string }
  | { is: 'part'; of: ts.Expression; name: string }

/** Resolves an identifier to a constant of an enclosing scope or imported file, or to a parameter. */
const resolve = (trees: Trees, at: ts.Node, name: string): Found | undefined => {
  for (const scope of ancestors(at)) {
    if (ts.isFunctionLike(scope)) {
      for (const [index, parameter] of scope.parameters.entries()) {
        if (ts.isIdentifier(parameter.name) && parameter.name.text === name)
          return { is: 'parameter', of: scope, index, path: '' }
        if (ts.isObjectBindingPattern(parameter.name))
          for (const element of parameter.name.elements)
            if (element.name.getText() === name)
              return { is: 'parameter', of: scope, index, path: `.${(element.propertyName ?? element.name).getText()}` }
      }
    }
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue
    for (const statement of scope.statements) {
      if (!ts.isVariableStatement(statement)) continue
      for (const { name: binding, initializer } of statement.declarationList.declarations) {
        if (initializer === undefined) continue
        if (ts.isIdentifier(binding) && binding.text === name) {
          const isConstant = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0
          return isConstant ? { is: 'value', expression: initializer } : undefined
        }
        if (!ts.isObjectBindingPattern(binding)) continue
        for (const element of binding.elements)
          if (element.name.getText() === name)
            return { is: 'part', of: initializer, name: (element.propertyName ?? element.name).getText() }
      }
    }
    if (ts.isSourceFile(scope)) return resolveImport(trees, scope, name)
  }
  return undefined
}

const resolveImport = (trees: Trees, file: ts.SourceFile, name: string): Found | undefined => {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const bindings = statement.importClause?.namedBindings
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue
    const element = bindings.elements.find((one) => one.name.text === name)
    const other = trees.get(join(dirname(file.fileName), statement.moduleSpecifier.text))
    if (element === undefined || other === undefined) continue
    const inside = other.statements[0]
    return inside === undefined ? undefined : resolve(trees, inside, (element.propertyName ?? element.name).text)
  }
  return undefined
}

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/(?<=\d)_(?=\d)/g, '')

/** Accepts expressions that have the same value in every run. Calls and awaited values differ between runs. */
const isConstant = (node: ts.Expression): boolean =>
  ts.isNumericLiteral(node) ||
  ts.isStringLiteralLike(node) ||
  ts.isIdentifier(node) ||
  ts.isObjectLiteralExpression(node) ||
  ts.isElementAccessExpression(node) ||
  (ts.isPropertyAccessExpression(node) && isConstant(node.expression)) ||
  (ts.isParenthesizedExpression(node) && isConstant(node.expression)) ||
  (ts.isAsExpression(node) && isConstant(node.expression)) ||
  (ts.isPrefixUnaryExpression(node) && isConstant(node.operand)) ||
  (ts.isBinaryExpression(node) && isConstant(node.left) && isConstant(node.right)) ||
  (ts.isConditionalExpression(node) && isConstant(node.whenTrue) && isConstant(node.whenFalse)) ||
  (ts.isCallExpression(node) && /^Math\.\w+$/.test(node.expression.getText()) && node.arguments.every(isConstant))

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}

const createPrinter = (trees: Trees) => {
  const print = (node: ts.Expression, depth = 0): string => {
    const inner = (one: ts.Expression): string => print(one, depth + 1)
    if (depth > 12) return tidy(node.getText())
    if (ts.isNumericLiteral(node)) return String(Number(node.text.replaceAll('_', '')))
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return inner(node.expression)
    if (ts.isIdentifier(node)) {
      const found = resolve(trees, node, node.text)
      if (found?.is === 'value' && isConstant(found.expression)) return inner(found.expression)
      if (found?.is === 'part' && isConstant(found.of)) return `${inner(found.of)}.${found.name}`
      return node.text
    }
    if (ts.isBinaryExpression(node)) {
      const [left, right] = [inner(node.left), inner(node.right)]
      const sign = node.operatorToken.getText()
      const value = operators[sign]?.(Number(left), Number(right))
      return value === undefined || !Number.isFinite(value) ? `(${left} ${sign} ${right})` : String(value)
    }
    if (ts.isConditionalExpression(node))
      return `(${inner(node.condition)} ? ${inner(node.whenTrue)} : ${inner(node.whenFalse)})`
    if (ts.isPropertyAccessExpression(node)) return `${inner(node.expression)}.${node.name.text}`
    if (ts.isElementAccessExpression(node)) return `${inner(node.expression)}[${inner(node.argumentExpression)}]`
    if (ts.isCallExpression(node))
      return `${tidy(node.expression.getText())}(${node.arguments.map((one) => inner(one)).join(', ')})`
    if (ts.isObjectLiteralExpression(node))
      return `{ ${node.properties
        .map((one) =>
          ts.isPropertyAssignment(one) ? `${one.name.getText()}: ${inner(one.initializer)}` : tidy(one.getText()),
        )
        .join(', ')} }`
    return tidy(node.getText())
  }
  return print
}

/** Returns the name of a figure. Variable parts stay in braces. */
const printName = (node: ts.Expression): string => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return (
      node.head.text +
      node.templateSpans.map((one) => `{${tidy(one.expression.getText())}}${one.literal.text}`).join('')
    )
  if (ts.isCallExpression(node) && node.expression.getText() === 'amount' && node.arguments[1] !== undefined)
    return printName(node.arguments[1])
  return `{${tidy(node.getText())}}`
}

/** Returns the check in a file: a const of type Check, or the only benchmark that the file returns. */
const checkOf = (file: ts.SourceFile): string => {
  const names = new Set<string>()
  walk(file, (node) => {
    if (!ts.isObjectLiteralExpression(node)) return
    const name = propertyOf(node, 'name')
    const isBench = propertyOf(node, 'conditions') !== undefined && propertyOf(node, 'figures') !== undefined
    const isCheck =
      propertyOf(node, 'what') !== undefined && node.properties.some((one) => one.name?.getText() === 'run')
    if (name === undefined || !(isBench || isCheck)) return
    const value = ts.isIdentifier(name) ? resolve(new Map(), name, name.text) : undefined
    const text = value?.is === 'value' ? value.expression : name
    if (ts.isStringLiteralLike(text)) names.add(text.text)
  })
  return names.size === 1 ? `${file.fileName.split('/')[0]} ${[...names][0]}` : file.fileName
}

/** Returns the name by which callers refer to a function. */
const nameOf = (of: ts.SignatureDeclaration): string | undefined => {
  if (of.name !== undefined) return of.name.getText()
  const { parent } = of
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : undefined
}

/** Lists the parameters that an expression depends on. */
const parametersIn = (trees: Trees, expression: ts.Expression) => {
  const found: Extract<Found, { is: 'parameter' }>[] = []
  const follow = (node: ts.Node, depth: number): void =>
    walk(node, (one) => {
      if (!ts.isIdentifier(one) || depth > 6) return
      if (ts.isPropertyAccessExpression(one.parent) && one.parent.name === one) return
      const named = resolve(trees, one, one.text)
      if (named?.is === 'parameter') found.push(named)
      if (named?.is === 'value' && isConstant(named.expression)) follow(named.expression, depth + 1)
      if (named?.is === 'part' && isConstant(named.of)) follow(named.of, depth + 1)
    })
  follow(expression, 0)
  return found
}

const isAmountName = (what: ts.Expression): boolean => {
  let isFound = false
  walk(what, (node) => {
    isFound ||= ts.isCallExpression(node) && node.expression.getText() === 'amount'
  })
  return isFound
}

/** Finds the figure of a bar within the function that creates the bar. */
const figureAround = (node: ts.Node): ts.ObjectLiteralExpression | undefined => {
  for (const one of ancestors(node)) {
    if (ts.isFunctionLike(one)) return undefined
    if (ts.isObjectLiteralExpression(one) && propertyOf(one, 'what') !== undefined) return one
  }
  return undefined
}

const hasFigure = (branch: ts.Expression): boolean => {
  let isFound = false
  walk(branch, (node) => {
    isFound ||= ts.isObjectLiteralExpression(node) && propertyOf(node, 'what') !== undefined
  })
  return isFound
}

/** Names the conditional that a figure is in, if it has figures in both branches. */
const choiceAround = (figure: ts.Node): string | undefined => {
  for (const one of ancestors(figure)) {
    if (ts.isFunctionLike(one)) return undefined
    if (ts.isConditionalExpression(one) && hasFigure(one.whenTrue) && hasFigure(one.whenFalse)) return String(one.pos)
  }
  return undefined
}

/** Returns true if a bar or its figure exists in one form only. */
const isOfOneForm = (bar: ts.Node): boolean => {
  for (const one of ancestors(bar)) {
    if (ts.isFunctionLike(one)) return false
    if (ts.isConditionalExpression(one) && one.condition.getText().includes('isQuick')) return true
    if (ts.isIfStatement(one) && one.expression.getText().includes('isQuick')) return true
  }
  return false
}

/** Lists all bars of a checkout, in a stable order. */
export const readBars = (root: string): Bar[] => {
  const trees = readTrees(root)
  const print = createPrinter(trees)
  const checks = new Map([...trees].map(([path, tree]) => [path, checkOf(tree)]))
  const bars: Bar[] = []
  const followed = new Set<string>()
  /** Handles a bar that callers pass to a function: each caller sets its own. */
  const follow = (node: ts.Expression, isAmount: boolean): void => {
    for (const { of, index, path } of parametersIn(trees, node)) {
      const callee = nameOf(of)
      if (callee === undefined || callee === 'run' || followed.has(`${callee} ${index}${path}`)) continue
      followed.add(`${callee} ${index}${path}`)
      for (const [file, tree] of trees)
        walk(tree, (call) => {
          if (!ts.isCallExpression(call) || call.expression.getText() !== callee) return
          const argument = call.arguments[index]
          if (argument === undefined) return
          const isObject = ts.isObjectLiteralExpression(argument) && path !== ''
          const value = isObject ? propertyOf(argument, path.slice(1)) : argument
          if (value === undefined) return
          const first = call.arguments[0]
          const what = first === undefined || first === argument ? '' : `: ${printName(first)}`
          const parameter = path === '' ? of.parameters[index]?.name.getText() : path.slice(1)
          const bar = print(value)
          // Only numbers set a bar; names and switches do not.
          if (!/\d/.test(bar)) return
          const figure = `${callee}${what} (${parameter})`
          const isShortened = bar.includes('isQuick')
          bars.push({ check: checks.get(file) as string, figure, bar, isShortened, isAmount, isPassedOn: true })
          follow(value, isAmount)
        })
    }
  }
  for (const [path, tree] of trees)
    walk(tree, (node) => {
      if (!ts.isPropertyAssignment(node) && !ts.isShorthandPropertyAssignment(node)) return
      const property = node.name.getText()
      if (!['atMost', 'atLeast', 'limit'].includes(property)) return
      const figure = figureAround(node)
      if (figure === undefined) return
      const better = propertyOf(figure, 'better')?.getText() ?? ''
      if (property === 'limit' && better === '') return
      const sign = property === 'atLeast' || better.includes('more') ? '>=' : '<='
      const value = ts.isPropertyAssignment(node) ? node.initializer : node.name
      const what = propertyOf(figure, 'what') as ts.Expression
      const bar = `${sign} ${print(value)}`
      const isAmount = isAmountName(what)
      const check = checks.get(path) as string
      const choice = choiceAround(figure)
      const isShortened = bar.includes('isQuick') || isOfOneForm(node)
      const known = { check, figure: printName(what), bar, isShortened, isAmount }
      bars.push({ ...known, isPassedOn: false, ...(choice === undefined ? {} : { choice }) })
      follow(value, isAmount)
    })
  return bars.sort((a, b) => compare(`${a.check} ${a.figure} ${a.bar}`, `${b.check} ${b.figure} ${b.bar}`))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
