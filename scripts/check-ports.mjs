// Invariant: A capability calls upwards only through the interfaces of its ports.ts.

// Checks that a capability that calls one above it declares its needs in its ports.ts, and that ARCHITECTURE.md lists
// these pairs. Reads what server/src/compose.ts passes to each capability, lambdas and constants included. Checks the
// checkout or the given folder.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { ROOT } from './bootstrap/say.mjs'
import tiers from './tiers.cjs'

const MAX_PAIRS = 6
const CAPABILITY = /\/features\/([a-z-]+)\/server\/(?:[a-z-]+\/)?index\.ts$/
const PLATFORM = /\/platform\/server\//
const ROW = /^\| `features\/([a-z-]+)\/server\/ports\.ts`, `(\w+)` \| `([a-z-]+)` \|/gm

const tree = resolve(process.argv[2] ?? ROOT)
const features = join(tree, 'features')
const table = [...read(join(tree, 'ARCHITECTURE.md')).matchAll(ROW)].map(([, lower, port, higher]) => ({
  lower,
  port,
  higher,
}))
const wrong = [...evaluateBindings(bindings()), ...evaluatePorts()]
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0

/** Checks that each function that compose passes upwards has a port, and that each port is passed. */
function evaluateBindings(found) {
  return [
    ...found.flatMap(({ where, lower, member, higher }) => {
      const isDeclared = table.some(
        (row) => row.lower === lower && row.higher === higher && member !== null && isMember(lower, member, row.port),
      )
      return isDeclared
        ? []
        : [
            `${where}: ${lower} receives ${higher}, which is not below it${member === null ? '' : ` (${member})`}: declare a port in features/${lower}/server/ports.ts, or register with ${lower} from ${higher}`,
          ]
    }),
    ...table
      .filter((row) => !found.some(({ lower, higher }) => lower === row.lower && higher === row.higher))
      .map(({ lower, higher }) => `ARCHITECTURE.md lists that ${lower} calls ${higher}, which compose does not bind`),
  ]
}

function evaluatePorts() {
  const pairs = new Set(table.map(({ lower, higher }) => `${lower} ${higher}`))
  const onDisk = globSync('*/server/ports.ts', { cwd: features }).map((path) => path.split(/[\\/]/)[0])
  const listed = (capability) => table.filter(({ lower }) => lower === capability).map(({ port }) => port)
  return [
    ...(pairs.size > MAX_PAIRS ? [`${pairs.size} capabilities call one above them; ${MAX_PAIRS} is the limit`] : []),
    ...table
      .filter(({ lower }) => !onDisk.includes(lower))
      .map(({ lower }) => `ARCHITECTURE.md lists features/${lower}/server/ports.ts, which is gone`),
    ...onDisk.flatMap((capability) => {
      const exported = [...portsOf(capability).matchAll(/^export interface (\w+)/gm)].map((match) => match[1])
      return [
        ...exported
          .filter((port) => !listed(capability).includes(port))
          .map((port) => `ARCHITECTURE.md does not list ${port} of features/${capability}/server/ports.ts`),
        ...listed(capability)
          .filter((port) => !exported.includes(port))
          .map((port) => `features/${capability}/server/ports.ts does not declare ${port}`),
      ]
    }),
  ]
}

/** Returns everything that compose passes to a capability from the same or a higher tier. */
function bindings() {
  const path = 'server/src/compose.ts'
  const file = ts.createSourceFile(path, read(join(tree, path)), ts.ScriptTarget.Latest, true)
  /** Capability of each name that is imported or created by an import. */
  const owners = new Map()
  /** Other constants, with the expressions that define them. */
  const constants = new Map()
  const platform = new Set()
  each(file, (node) => {
    for (const { name, from } of namesOf(node, CAPABILITY)) owners.set(name, from)
    for (const { name } of namesOf(node, PLATFORM)) platform.add(name)
  })
  const makers = new Set(owners.keys())
  each(file, (node) => noteConstant(node, owners, constants, { makers, platform }))

  const found = []
  each(file, (node) => {
    if (!ts.isCallExpression(node)) return
    const consumer = consumerOf(node.expression, owners)
    if (consumer === undefined) return
    for (const [member, given] of node.arguments.flatMap(membersOf))
      for (const higher of capabilitiesIn(given, owners, constants))
        if (higher !== consumer && tierOf(higher) >= tierOf(consumer)) {
          const { line } = file.getLineAndCharacterOfPosition(given.getStart())
          found.push({ where: `${path}:${line + 1}`, lower: consumer, member, higher })
        }
  })
  return found
}

function tierOf(capability) {
  const tier = tiers.TIERS.findIndex((names) => names.includes(capability))
  if (tier === -1) throw new Error(`scripts/tiers.cjs does not name ${capability}`)
  return tier
}

/** Returns the names that a declaration imports from modules of a kind, without types. */
function namesOf(node, kind) {
  if (!ts.isImportDeclaration(node) || node.importClause?.isTypeOnly) return []
  const found = kind.exec(node.moduleSpecifier.text)
  const names = node.importClause?.namedBindings
  if (found === null || names === undefined || !ts.isNamedImports(names)) return []
  return names.elements.flatMap(({ name, isTypeOnly }) => (isTypeOnly ? [] : [{ name: name.text, from: found[1] }]))
}

function noteConstant(node, owners, constants, { makers, platform }) {
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined) return
  const made = bare(node.initializer)
  const maker = ts.isCallExpression(made) && ts.isIdentifier(made.expression) ? made.expression.text : ''
  // Results of the platform belong to no capability.
  if (platform.has(maker)) return
  for (const name of namesIn(node.name))
    if (makers.has(maker)) owners.set(name, owners.get(maker))
    else constants.set(name, made)
}

/** Returns the capability whose function is called. */
function consumerOf(called, owners) {
  if (ts.isIdentifier(called)) return owners.get(called.text)
  return ts.isPropertyAccessExpression(called) ? consumerOf(called.expression, owners) : undefined
}

/** Returns the members of a passed object by name. Results of calls are left out, because they call no capability. */
function membersOf(argument) {
  const given = bare(argument)
  if (ts.isCallExpression(given)) return []
  if (!ts.isObjectLiteralExpression(given)) return [[null, given]]
  return given.properties.map((one) =>
    ts.isPropertyAssignment(one)
      ? [one.name.text, one.initializer]
      : ts.isShorthandPropertyAssignment(one)
        ? [one.name.text, one.name]
        : [null, one],
  )
}

/** Returns the capabilities whose names occur in an expression, or in the constants that it uses. */
function capabilitiesIn(node, owners, constants, seen = new Set(), hidden = new Set()) {
  const found = new Set()
  const visit = (one, hides) => {
    if (ts.isTypeNode(one)) return
    if (ts.isPropertyAccessExpression(one)) return visit(one.expression, hides)
    if (ts.isPropertyAssignment(one)) return visit(one.initializer, hides)
    if (ts.isFunctionLike(one)) {
      const inside = new Set([...hides, ...one.parameters.flatMap(({ name }) => namesIn(name))])
      return ts.forEachChild(one, (child) => visit(child, inside))
    }
    if (ts.isIdentifier(one)) {
      const name = one.text
      if (hides.has(name)) return
      if (owners.has(name)) found.add(owners.get(name))
      else if (constants.has(name) && !seen.has(name))
        for (const other of capabilitiesIn(constants.get(name), owners, constants, new Set([...seen, name])))
          found.add(other)
      return
    }
    ts.forEachChild(one, (child) => visit(child, hides))
  }
  visit(node, hidden)
  return found
}

function namesIn(name) {
  return ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((one) => (one.name ? namesIn(one.name) : []))
}

function bare(node) {
  return ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)
    ? bare(node.expression)
    : node
}

function each(node, look) {
  look(node)
  ts.forEachChild(node, (child) => each(child, look))
}

/** Returns whether a capability takes a member of this name as this port. */
function isMember(capability, member, port) {
  const declared = new RegExp(`\\b${member}: ${port}\\b`)
  const folder = join(features, capability, 'server')
  return globSync('**/*.ts', { cwd: folder }).some((path) => declared.test(read(join(folder, path))))
}

function portsOf(capability) {
  return read(join(features, capability, 'server', 'ports.ts'))
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
