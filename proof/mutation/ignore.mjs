const levels = new Set(['debug', 'info', 'warn', 'error'])

/** Leaves out log lines, which decide nothing. */
const logLines = {
  shouldIgnore({ node }) {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
    const { object, property } = node.callee
    const isLog = object.type === 'Identifier' && object.name === 'log' && levels.has(property.name)
    return isLog ? 'A log line decides nothing.' : undefined
  },
}

/** A plugin of Stryker, as its `declareValuePlugin` returns it. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'log-lines', value: logLines }]
