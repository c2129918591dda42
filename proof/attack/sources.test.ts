import ts from 'typescript'
import { expect, it } from 'vitest'
import { root } from '../kit/root.ts'
import { placeOf, type SourceFile, sourceFiles, walk } from './source/files.ts'

interface Ban {
  name: string
  /** Returns whether a node is the forbidden construct. */
  isBroken(node: ts.Node, file: SourceFile): boolean
  /** Files with known exceptions: how many, and why they are safe. */
  known?: Readonly<Record<string, { places: number; because: string }>>
}

const calledName = (node: ts.Node): string | undefined =>
  ts.isCallExpression(node) || ts.isNewExpression(node)
    ? ts.isPropertyAccessExpression(node.expression)
      ? node.expression.name.text
      : ts.isIdentifier(node.expression)
        ? node.expression.text
        : undefined
    : undefined

const isFree = (node: ts.Node, name: string): boolean =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === name

const argument = (node: ts.Node, at: number): ts.Expression | undefined =>
  ts.isCallExpression(node) || ts.isNewExpression(node) ? node.arguments?.[at] : undefined
const firstArgument = (node: ts.Node): ts.Expression | undefined => argument(node, 0)

const isModule = (node: ts.Node, name: string): boolean =>
  (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text === name) ||
  (calledName(node) === 'require' && firstArgument(node)?.getText().slice(1, -1) === name)

const propertyNamed = (node: ts.Node, name: string): ts.Expression | undefined =>
  ts.isPropertyAssignment(node) && node.name.getText().replaceAll(/['"]/g, '') === name ? node.initializer : undefined

/** Returns whether text is concatenated or interpolated. Such text must not reach a database or a shell. */
const isJoined = (node: ts.Expression | undefined): boolean =>
  node !== undefined &&
  (ts.isTemplateExpression(node) ||
    (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) ||
    (ts.isObjectLiteralExpression(node) && node.properties.some((p) => isJoined(propertyNamed(p, 'text')))))

const jitter = 'spreads retries over time; predicting it gains nothing'
const names = 'quoted names of tables and columns from the catalog of PostgreSQL, never a value from a request'

const bound = 'a statement whose parameters the database has already bound'

/** Constructs that the sources must not contain, with the known exceptions and their reasons. */
const bans: readonly Ban[] = [
  {
    name: 'text run as code',
    isBroken: (node) =>
      isFree(node, 'eval') ||
      isFree(node, 'Function') ||
      isModule(node, 'node:vm') ||
      isModule(node, 'vm') ||
      (['setTimeout', 'setInterval'].includes(calledName(node) ?? '') &&
        ts.isStringLiteralLike(firstArgument(node) ?? node)),
    known: {
      'agent/src/update/fetch-build.ts': { places: 1, because: "runs the constant 'gc' to release memory" },
    },
  },
  {
    name: 'a shell',
    isBroken: (node) =>
      (ts.isImportSpecifier(node) && ['exec', 'execSync'].includes((node.propertyName ?? node.name).text)) ||
      (propertyNamed(node, 'shell') !== undefined &&
        propertyNamed(node, 'shell')?.kind !== ts.SyntaxKind.FalseKeyword) ||
      (['spawn', 'spawnSync', 'execFile', 'execFileSync'].includes(calledName(node) ?? '') &&
        /^['"`](?:\/bin\/|\/usr\/bin\/)?(?:sh|bash|dash|cmd|cmd\.exe|powershell)['"`]$/.test(
          firstArgument(node)?.getText() ?? '',
        )),
    known: {
      'agent/src/platform/linux/watchdog.ts': {
        places: 1,
        because: 'a constant script that outlives the agent; paths are passed as arguments only',
      },
      'platform/server/failover/promote.ts': {
        places: 1,
        because: 'the command that an operator gives on the command line, run with the rights of that operator',
      },
    },
  },
  {
    name: 'a certificate that nobody checks',
    isBroken: (node) => {
      const rejects = propertyNamed(node, 'rejectUnauthorized')
      return (
        (rejects !== undefined && rejects.kind !== ts.SyntaxKind.TrueKeyword) ||
        propertyNamed(node, 'checkServerIdentity') !== undefined ||
        (ts.isStringLiteralLike(node) && node.text === 'NODE_TLS_REJECT_UNAUTHORIZED')
      )
    },
    known: {
      'agent/src/transport/tls-pin.ts': {
        places: 1,
        because:
          'reads a chain, sends nothing; compares its keys with the pinned hash, or names its issuer in an error',
      },
      'platform/server/outbound-issuer.ts': {
        places: 1,
        because: 'names the issuer of a certificate that was refused; sends nothing and ends the connection',
      },
      'server/src/entry/own-server.ts': {
        places: 1,
        because: 'checks whether the server on the same machine is ready; sends only the path',
      },
      'features/settings/server/domain-test.ts': {
        places: 1,
        because: 'a connection test that reports faults of a certificate; sends no secret',
      },
    },
  },
  {
    name: 'markup made of text',
    isBroken: (node) =>
      (ts.isIdentifier(node) &&
        ['dangerouslySetInnerHTML', 'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcDoc', 'srcdoc'].includes(
          node.text,
        )) ||
      (ts.isPropertyAccessExpression(node) && node.getText() === 'document.write'),
  },
  {
    name: 'chance that can be guessed',
    isBroken: (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random',
    known: {
      'agent/src/backoff.ts': { places: 1, because: jitter },
      'cli/simulator/commands.ts': { places: 1, because: jitter },
      'agent/src/enforcement/policy-fetch.ts': { places: 1, because: jitter },
      'agent/src/loop.ts': { places: 1, because: jitter },
      'agent/src/server-calls.ts': { places: 1, because: jitter },
      'cli/simulator/host-agent.ts': { places: 1, because: jitter },
      'console/src/app/main.tsx': { places: 1, because: jitter },
      'poller/src/worker.ts': { places: 1, because: jitter },
      'features/agentless/server/polls.service.ts': { places: 1, because: jitter },
      'platform/server/limiters/download-slots.ts': { places: 1, because: jitter },
      'platform/server/limiters/turns.ts': { places: 1, because: jitter },
    },
  },
  {
    name: 'a value in the text of a statement',
    isBroken: (node, { path }) => {
      if (!/^(?:server|platform\/server|features\/[^/]+\/server)\//.test(path)) return false
      const called = calledName(node) ?? ''
      if (called === 'query' || called === 'copyTo' || called === 'copyFrom') return isJoined(firstArgument(node))
      if (called === 'copyOut' || called === 'copyRows') return isJoined(argument(node, 1))
      // Input from callers is in `body`, `query`, `params` and `request`. None of it may become raw SQL.
      const taken = isFree(node, 'raw') ? firstArgument(node) : undefined
      return taken !== undefined && /\b(?:body|query|params|request|actor)\b[.[?]/.test(taken.getText())
    },
    known: {
      'features/reports/server/exports/exports.read.ts': { places: 1, because: bound },
      'platform/server/backup/dump.ts': { places: 1, because: names },
      'platform/server/backup/load.ts': { places: 4, because: names },
      'platform/server/backup/tables.ts': { places: 1, because: names },
      'platform/server/db/bus.ts': { places: 1, because: 'the constant name of a channel' },
      'platform/server/db/migrate.ts': { places: 1, because: 'a number from our own migrations' },
      'platform/server/failover/promote.ts': {
        places: 1,
        because: 'constant names of settings, and values quoted by the driver',
      },
      'platform/server/list/stream.ts': { places: 2, because: bound },
      'platform/server/postgres/embedded.ts': { places: 2, because: 'constant names of a role and a database' },
    },
  },
  {
    name: 'a broken cipher or hash',
    isBroken: (node) =>
      ['createHash', 'createHmac', 'createCipheriv', 'createDecipheriv', 'createSign', 'createVerify'].includes(
        calledName(node) ?? '',
      ) && /^['"`](?:md5|sha1|rc4|des|.*-(?:cbc|ecb))/i.test(firstArgument(node)?.getText() ?? ''),
    known: {
      'agent/src/transport/wake.ts': { places: 1, because: 'RFC 6455 requires SHA-1; it proves nothing' },
      'platform/server/db/statement-names.ts': { places: 1, because: 'derives names for our own statements' },
      'platform/server/tls/certificate.ts': { places: 1, because: 'a key identifier by RFC 5280; proves nothing' },
    },
  },
  {
    name: 'an object made of anything but JSON',
    isBroken: (node) =>
      isModule(node, 'node:v8') || isModule(node, 'js-yaml') || isModule(node, 'serialize-javascript'),
    known: {
      'agent/src/update/fetch-build.ts': { places: 1, because: 'sets a flag of the engine' },
      'server/src/entry/start.ts': { places: 1, because: 'sets a flag of the engine' },
    },
  },
]

it('finds no unlisted dangerous construct in the sources', { timeout: 180_000 }, () => {
  const files = sourceFiles(root)
  expect(files.length).toBeGreaterThan(400)
  expect(bans.length).toBeGreaterThan(5)
  for (const { name, isBroken, known = {} } of bans) {
    const found: Record<string, string[]> = {}
    for (const file of files)
      walk(file.tree, (node) => {
        if (!isBroken(node, file)) return
        found[file.path] ??= []
        found[file.path]?.push(placeOf(file, node))
      })
    // More occurrences than listed are a fault, like a new file. Fewer mean that the list is out of date.
    const counts = Object.fromEntries(Object.entries(found).map(([path, places]) => [path, places.length]))
    const listed = Object.fromEntries(Object.entries(known).map(([path, { places }]) => [path, places]))
    expect(counts, `${name}: ${Object.values(found).flat().join(', ')}`).toEqual(listed)
  }
})
