/** What must not stand in the sources, and the few places that are known and why they may. */
import ts from 'typescript'
import type { SourceFile } from './files.ts'

export interface Ban {
  name: string
  /** Whether a node is what must not be there. */
  isBroken(node: ts.Node, file: SourceFile): boolean
  /** Files in which it is known, with the number of places and the reason. */
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

/** Text joined from parts, as it must not reach a database or a shell. */
const isJoined = (node: ts.Expression | undefined): boolean =>
  node !== undefined &&
  (ts.isTemplateExpression(node) ||
    (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) ||
    (ts.isObjectLiteralExpression(node) && node.properties.some((p) => isJoined(propertyNamed(p, 'text')))))

const jitter = 'spreads tries over time; nobody gains by knowing it'
const names = 'names of tables and columns that PostgreSQL itself says, quoted; no value of a request'

const bound = 'a statement whose parameters the database itself bound'

export const bans: readonly Ban[] = [
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
      'agent/src/update/fetch-build.ts': { places: 1, because: "runs the constant 'gc', to give memory back" },
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
      'agent/src/enforcement/watchdog.ts': {
        places: 1,
        because: 'a constant script that outlives the agent; paths are its arguments, never its text',
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
        because: 'looks at a chain once, sends nothing, and compares the key with the pinned hash',
      },
      'server/src/entry/own-server.ts': {
        places: 1,
        because: 'asks the server of its own machine whether it is ready; it sends nothing but the path',
      },
      'server/src/features/system/settings/domain-test.ts': {
        places: 1,
        because: 'a test says what is wrong with a certificate; it sends no secret',
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
      'agent/src/enforcement/policy-fetch.ts': { places: 1, because: jitter },
      'agent/src/loop.ts': { places: 1, because: jitter },
      'agent/src/server-calls.ts': { places: 1, because: jitter },
      'cli/simulator/host-agent.ts': { places: 1, because: jitter },
      'console/src/app/main.tsx': { places: 1, because: jitter },
      'poller/src/worker.ts': { places: 1, because: jitter },
      'server/src/features/fleet/agentless/polls.service.ts': { places: 1, because: jitter },
      'server/src/platform/semaphore.ts': { places: 1, because: jitter },
    },
  },
  {
    name: 'a value in the text of a statement',
    isBroken: (node, { path }) => {
      if (!path.startsWith('server/')) return false
      const called = calledName(node) ?? ''
      if (called === 'query' || called === 'copyTo' || called === 'copyFrom') return isJoined(firstArgument(node))
      if (called === 'copyOut') return isJoined(argument(node, 1))
      // What a caller sent is in `body`, `query`, `params` and `request`: none of them is ever taken as it is.
      const taken = isFree(node, 'raw') ? firstArgument(node) : undefined
      return taken !== undefined && /\b(?:body|query|params|request|actor)\b[.[?]/.test(taken.getText())
    },
    known: {
      'server/src/features/outbound/exports/exports.read.ts': { places: 1, because: bound },
      'server/src/platform/backup/dump.ts': { places: 1, because: names },
      'server/src/platform/backup/load.ts': { places: 4, because: names },
      'server/src/platform/backup/tables.ts': { places: 1, because: names },
      'server/src/platform/csv.ts': { places: 1, because: bound },
      'server/src/platform/db/bus.ts': { places: 1, because: 'the constant name of a channel' },
      'server/src/platform/db/migrate.ts': { places: 1, because: 'a number that stands in a migration of ours' },
      'server/src/platform/list/stream.ts': { places: 4, because: bound },
      'server/src/platform/postgres/embedded.ts': { places: 2, because: 'constant names of a role and a database' },
    },
  },
  {
    name: 'a broken cipher or hash',
    isBroken: (node) =>
      ['createHash', 'createHmac', 'createCipheriv', 'createDecipheriv', 'createSign', 'createVerify'].includes(
        calledName(node) ?? '',
      ) && /^['"`](?:md5|sha1|rc4|des|.*-(?:cbc|ecb))/i.test(firstArgument(node)?.getText() ?? ''),
    known: {
      'agent/src/transport/wake.ts': { places: 1, because: 'RFC 6455 asks for SHA-1; it proves nothing' },
      'server/src/platform/db/statement-names.ts': { places: 1, because: 'names statements of our own source' },
      'server/src/platform/tls/certificate.ts': { places: 1, because: 'RFC 5280 names a key by it; it proves nothing' },
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
