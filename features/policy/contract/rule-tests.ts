import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { policyKinds } from '@portcullis/contract/policy-kinds.ts'
import { apiPrefix, closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Maximum number of rule tests. Each rule change runs the tests that it can affect. */
export const mostRuleTests = 500

const hex4 = (description: string) => Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description })

const content = {
  name: typedText({
    minLength: 1,
    maxLength: 80,
    description: 'Name, shown when the test refuses a change. Unique, ignoring case.',
  }),
  expected: Type.Enum(['allow', 'block'], { description: 'Expected decision about the device on an armed host.' }),
  vid: hex4('Vendor ID (VID) of the sample device, four hex digits.'),
  pid: hex4('Product ID (PID) of the sample device, four hex digits.'),
  serial: Type.String({
    maxLength: agentLimits.escapedString,
    description: 'Serial number as lists show it. Empty: the device has none.',
  }),
  kinds: Type.Array(Type.Enum(policyKinds), {
    minItems: 1,
    maxItems: policyKinds.length,
    description: 'All kinds of the sample device. A device whose only kind is `Hub` is always allowed.',
  }),
  fingerprint: nullable(
    Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: 'Fingerprint of the sample device, for rules that name one.',
    }),
    { description: '`null`: rules that name a fingerprint do not match the device.' },
  ),
  isAttackTool: Type.Boolean({ description: 'True: the sample device is a known attack tool.' }),
  host: nullable(
    Type.String({ maxLength: 128, description: 'UUID of a host. The test uses the rules for this host and its tags.' }),
    { description: '`null`: the test uses `tag`.' },
  ),
  tag: nullable(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The test uses the rules for this tag and for all hosts. Cannot be combined with `host`.',
    }),
    { description: '`null` without `host`: the test uses only the rules for all hosts.' },
  ),
}

const RuleTestBody = closed(content)
export type RuleTestBody = Static<typeof RuleTestBody>

/** A rule test with its result. */
export const RuleTest = closed({
  id: Type.String({ description: 'ID of the test.' }),
  ...content,
  hostIdentifier: nullable(Type.String({ description: 'Name of the host.' })),
  decision: Type.Enum(['allow', 'block'], { description: 'Current decision.' }),
  passes: Type.Boolean({ description: 'True if `decision` is the expected one.' }),
  rule: nullable(closed({ id: Type.String({ description: 'ID of the rule.' }), sentence: Type.String() }), {
    description: 'Rule that makes the decision. `null`: the decision does not come from a rule.',
  }),
  why: Type.String({ description: 'Reason for the decision, as text.' }),
  changedAt: utcTime('Time of the last change of the test.'),
  changedBy: Type.String({ description: 'Account that last changed the test.' }),
})
export type RuleTest = Static<typeof RuleTest>

const path = `${apiPrefix}/policy/tests`
const params = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the test.' }) })
const ifChangedAt = Type.Optional(
  utcTime(
    '`changedAt` of the test as the caller read it. If the test has changed since, the server returns 409 and changes nothing. Absent: the change is made in any case.',
  ),
)
const bodyExample = {
  name: 'Payment terminals keep their scanner',
  expected: 'allow',
  vid: '05E0',
  pid: '1200',
  serial: '',
  kinds: ['Keyboard'],
  fingerprint: null,
  isAttackTool: false,
  host: null,
  tag: 'till',
} as const
const answer = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  ...bodyExample,
  vid: '05E0',
  hostIdentifier: null,
  decision: 'allow',
  passes: true,
  rule: { id: '01936f2a-7c11-7abc-8def-0123456789ac', sentence: 'Allow all of 05E0 on tag till: scanners' },
  why: 'Allowed by a rule for the tag',
  changedAt: '2031-05-04T10:11:12.345Z',
  changedBy: 'admin',
} as const
const common = { tag: 'Policy', permission: 'fleet:write' } as const

export const listRuleTests = operation({
  id: 'listRuleTests',
  method: 'GET',
  path,
  tag: 'Policy',
  summary: 'Lists the rule tests with their results',
  description:
    'A rule test is an expected decision about a sample device. The response contains the current decision of each test. Failing tests come first; otherwise, tests are sorted by name.',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(RuleTest, { maxItems: mostRuleTests }) }),
  examples: { response: { data: [answer] } },
})

export const sampleRuleTest = operation({
  id: 'sampleRuleTest',
  method: 'GET',
  path: `${path}/sample`,
  tag: 'Policy',
  summary: 'Returns a draft test that expects the current decision about a device',
  description: 'Nothing is stored. To add the test, send the response to `createRuleTest`.',
  permission: 'fleet:read',
  errors: ['not_found'],
  query: closed({
    uuid: Type.String({ minLength: 1, maxLength: 128, description: 'UUID of a host that has or had the device.' }),
    deviceID: Type.String({ minLength: 1, maxLength: 1_024, description: '`deviceID` of the device on that host.' }),
  }),
  response: RuleTestBody,
  examples: { response: bodyExample },
})

export const createRuleTest = operation({
  ...common,
  id: 'createRuleTest',
  method: 'POST',
  path,
  summary: 'Adds a rule test',
  description: `The server refuses a rule change that makes a passing test fail, with \`policy_tests_failed\`. A test that already fails does not block changes. A server can have ${mostRuleTests} tests. When a host is deleted, its tests are deleted, too.`,
  errors: ['conflict'],
  body: RuleTestBody,
  response: RuleTest,
  examples: { request: bodyExample, response: answer },
})

export const updateRuleTest = operation({
  ...common,
  id: 'updateRuleTest',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Replaces a rule test',
  errors: ['conflict', 'not_found'],
  params,
  body: closed({ ...content, ifChangedAt }),
  response: RuleTest,
  examples: { request: bodyExample, response: answer },
})

export const deleteRuleTest = operation({
  ...common,
  id: 'deleteRuleTest',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Deletes a rule test',
  errors: ['not_found'],
  params,
  response: closed({ deleted: Type.String({ description: 'ID of the deleted test.' }) }),
})
