import type { Mutant } from '../mutant.ts'

const http = 'server/src/platform/http'
const test = (name: string) => ({ test: `e2e/door/${name}.slow.test.ts` })
const matrix = test('matrix')
const massAssignment = test('mass-assignment')
const contentTypes = test('content-types')
const idor = test('idor')
const browserHeaders = test('browser-headers')

/** Mutants that only tests of the whole interface detect. Each test starts its own server: about 15 s for each mutant. */
export const doorMutants: readonly Mutant[] = [
  {
    ...matrix,
    does: 'The server does not check the permissions of the caller',
    file: `${http}/authorise.ts`,
    find: '    assertProfile(actor, audience)\n    // Before the scope, because no scope gives a token access to these operations.\n    if (operation.fresh === true) assertFresh(actor, options.clock.now())\n    assertPermission(actor, audience)\n',
    replace: '    void [assertProfile, assertFresh, assertPermission]\n',
  },
  {
    ...matrix,
    does: 'One operation requires a lower permission than it should',
    file: 'contract/src/admin.ts',
    find: "permission: 'accounts:write',\n  body: nullable(",
    replace: "permission: 'accounts:read',\n  body: nullable(",
  },
  {
    ...matrix,
    does: 'The server answers a route that the OpenAPI document does not have',
    file: `${http}/docs.ts`,
    find: 'app.register(getDocs,',
    replace: "app.fastify.get('/debug/heap', async () => 'heap')\n  app.register(getDocs,",
  },
  {
    ...matrix,
    does: 'The router merges repeated slashes',
    file: `${http}/http-server.ts`,
    find: 'ignoreDuplicateSlashes: false',
    replace: 'ignoreDuplicateSlashes: true',
  },
  {
    ...massAssignment,
    does: 'A body may have members that the contract does not name',
    file: 'contract/src/operation.ts',
    find: 'Type.Object(properties, { additionalProperties: false, ...options })',
    replace: 'Type.Object(properties, { ...options })',
  },
  {
    ...massAssignment,
    does: 'A Manager can assign any profile',
    file: 'server/src/features/people/accounts/accounts.service.ts',
    find: 'if (present !== profiles.user || wanted !== profiles.user)',
    replace: 'if (present !== profiles.user && wanted !== profiles.user)',
  },
  {
    ...test('sort-oracle'),
    does: 'Hosts can be sorted by the key of their agent',
    file: 'server/src/platform/list/compile.ts',
    find: "const found = match === null ? undefined : names.get((match[2] ?? '').toLowerCase())",
    replace:
      "const found = match === null ? undefined : (names.get((match[2] as string).toLowerCase()) ?? (match[2] === 'public_key' ? [...names.values()].find(({ column }) => column.sort !== undefined) : undefined))",
  },
  {
    ...contentTypes,
    does: 'The server ignores a body under another media type',
    file: `${http}/read-body.ts`,
    find: "if (!empty && decoder === undefined) throw unsupportedMediaType('json')",
    replace: 'if (!empty && decoder === undefined) return null',
  },
  {
    ...contentTypes,
    does: 'The server does not refuse a method that an operation does not have',
    file: 'server/src/compose.ts',
    find: 'app.seal()',
    replace: '',
  },
  {
    ...contentTypes,
    does: 'The server reads HTTP leniently',
    file: `${http}/http-server.ts`,
    find: 'requireHostHeader: false,',
    replace: 'requireHostHeader: false, insecureHTTPParser: true,',
  },
  {
    ...idor,
    does: 'A user who may not read a list can export it',
    file: 'server/src/features/outbound/reports/owner.ts',
    find: "  if (actor.profile > permissionTable[permission])\n    throw new AppError('forbidden_object', { detail: `Your profile cannot read ${title}.` })\n  assertPermission(actor, permission)\n",
    replace: '  void title\n',
  },
  {
    ...massAssignment,
    does: 'A Manager can change any account',
    file: 'server/src/features/people/accounts/accounts.service.ts',
    find: '  if (actor.profile === profiles.administrator) return\n',
    replace: '  if (actor.profile <= profiles.manager) return\n',
  },
  {
    ...browserHeaders,
    does: 'The server answers requests that its parser refuses without security headers',
    file: `${http}/http-server.ts`,
    find: '    clientErrorHandler: answerUnreadable,\n',
    replace: '',
  },
  {
    ...browserHeaders,
    does: 'The wake socket accepts any origin',
    file: 'server/src/features/fleet/ingest/wake.ts',
    find: 'request.headers.origin !== undefined',
    replace: 'false',
  },
  {
    ...browserHeaders,
    does: 'Cross-site requests are accepted',
    file: `${http}/origin.ts`,
    find: "origin === undefined || request.method === 'GET'",
    replace: 'origin !== null',
  },
  {
    ...browserHeaders,
    does: 'The server accepts TLS 1.0',
    file: `${http}/http-server.ts`,
    find: "minVersion: 'TLSv1.2'",
    replace: "minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0'",
  },
]
