import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { policyKinds } from '@portcullis/contract/policy-kinds.ts'
import { apiPrefix, closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Maximum number of tests. All that a change concerns run inside the change. */
export const mostRuleTests = 500

const hex4 = (description: string) => Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description })

const content = {
  name: typedText({
    minLength: 1,
    maxLength: 80,
    description: 'Name that a refused change states. Unique, ignoring case.',
  }),
  expected: Type.Enum(['allow', 'block'], { description: 'Expected decision on the device on an armed host.' }),
  vid: hex4('Vendor ID (VID) of the sample device, four hex digits.'),
  pid: hex4('Product ID (PID) of the sample device, four hex digits.'),
  serial: Type.String({
    maxLength: agentLimits.escapedString,
    description: 'Serial number as the lists show it. Empty: the device has none.',
  }),
  kinds: Type.Array(Type.Enum(policyKinds), {
    minItems: 1,
    maxItems: policyKinds.length,
    description: 'All kinds of the sample device. A device of the kind `Hub` only is always allowed.',
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
    Type.String({ maxLength: 128, description: 'UUID of the host that decides, with its tags and rules.' }),
    {
      description: '`null`: see `tag`.',
    },
  ),
  tag: nullable(
    Type.String({ minLength: 1, maxLength: 64, description: 'Only tag of the host that decides. Not with `host`.' }),
    { description: '`null`, without `host`: a host without tags and without rules of its own decides.' },
  ),
}

const RuleTestBody = closed(content)
export type RuleTestBody = Static<typeof RuleTestBody>

/** A test with the decision of the rules in force. */
export const RuleTest = closed({
  id: Type.String({ description: 'ID of the test.' }),
  ...content,
  hostIdentifier: nullable(Type.String({ description: 'Name of the host.' })),
  decision: Type.Enum(['allow', 'block'], { description: 'Decision by the rules in force.' }),
  passes: Type.Boolean({ description: 'True if the decision is as expected.' }),
  rule: nullable(closed({ id: Type.String({ description: 'ID of the rule.' }), sentence: Type.String() }), {
    description: 'Rule that decides. `null`: no rule does.',
  }),
  why: Type.String({ description: 'What decides, in words.' }),
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
  summary: 'Lists the tests of the rules with their results',
  description:
    'A test is an expected decision on a sample device. The response has the decision by the rules in force: failing tests come first, then by name.',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(RuleTest, { maxItems: mostRuleTests }) }),
  examples: { response: { data: [answer] } },
})

export const sampleRuleTest = operation({
  id: 'sampleRuleTest',
  method: 'GET',
  path: `${path}/sample`,
  tag: 'Policy',
  summary: 'Returns a test that expects the present decision on a device',
  description: 'Nothing is stored. `createRuleTest` takes the response as its body.',
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
  summary: 'Adds a test of the rules',
  description: `A change of the rules that makes a passing test fail is refused with \`policy_tests_failed\`. Tests that fail already refuse nothing. A server keeps at most ${mostRuleTests} tests. The test of a host is deleted with the host.`,
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
  summary: 'Replaces a test of the rules',
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
  summary: 'Deletes a test of the rules',
  errors: ['not_found'],
  params,
  response: closed({ deleted: Type.String({ description: 'ID of the deleted test.' }) }),
})
