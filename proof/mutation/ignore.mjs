const levels = new Set(['debug', 'info', 'warn', 'error'])

const isLogCall = ({ type, callee }) =>
  type === 'CallExpression' &&
  callee.type === 'MemberExpression' &&
  callee.object.type === 'Identifier' &&
  callee.object.name === 'log' &&
  levels.has(callee.property.name)

/** Leaves out log lines, which decide nothing. */
const logLines = {
  shouldIgnore({ node }) {
    const call = node.type === 'ExpressionStatement' ? node.expression : node
    return isLogCall(call) ? 'A log line decides nothing.' : undefined
  },
}

/** Leaves out the removal of a `return undefined` that ends a function anyway. */
const emptyCatches = {
  shouldIgnore({ node, parent, parentPath }) {
    const [only, more] = node.type === 'BlockStatement' ? node.body : []
    const isEmpty = only?.type === 'ReturnStatement' && only.argument?.name === 'undefined' && more === undefined
    if (!isEmpty || parent?.type !== 'CatchClause') return undefined
    const [statement, block] = [parentPath.parent, parentPath.parentPath.parent]
    const isLast = block.type === 'BlockStatement' && block.body.at(-1) === statement && statement.finalizer == null
    const isBody = /Function/.test(parentPath.parentPath.parentPath.parent.type)
    return isLast && isBody ? 'The function returns undefined here anyway.' : undefined
  },
}

/** Plugins of Stryker, in the form that its `declareValuePlugin` returns. */
export const strykerPlugins = [
  { kind: 'Ignore', name: 'log-lines', value: logLines },
  { kind: 'Ignore', name: 'empty-catches', value: emptyCatches },
]
