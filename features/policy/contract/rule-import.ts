import { closed, nullable, operation, WorksAgain } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { newlyAllowed } from '#features/change-requests/contract/newly-allowed.ts'
import { PolicyRuleInput } from './policy.ts'
import { Prediction } from './prediction.ts'
import { groupOfRules } from './rule-groups.ts'

/** Most lines of a list of serial numbers. A host accepts no more rules. */
export const importedLines = 10_000

const { effect, vid, pid, host, tag, expiresAt, reason } = PolicyRuleInput.properties

/** What a list adds, or would add. */
export const RuleImport = closed({
  version: Type.Integer({ description: 'Version of the policy after this call.' }),
  lines: Type.Integer({ description: 'Number of lines with a device.' }),
  added: Type.Integer({ description: 'Number of rules that were added; with `dryRun`, that would be added.' }),
  duplicates: Type.Integer({ description: 'Number of lines that repeat an earlier line. They add no rule.' }),
  covered: Type.Integer({
    description:
      'Number of devices that a rule in force with the same effect already covers on these hosts. They add no rule.',
  }),
  jobId: nullable(Type.String({ description: 'ID of the job that updates the decisions on stored devices.' })),
  worksAgain: nullable(WorksAgain, {
    description: 'With `dryRun`: blocked devices that would work again. Otherwise `null`.',
  }),
  newlyAllowed: newlyAllowed(
    'With `dryRun`: number of hosts on which the list newly allows devices, even if none has been seen.',
  ),
  secondPerson: Type.Optional(
    Type.Boolean({ description: 'With `dryRun`: true if adding these rules requires a second approver.' }),
  ),
  prediction: Type.Optional(Prediction),
})
export type RuleImport = Static<typeof RuleImport>

export const importPolicyRules = operation({
  id: 'importPolicyRules',
  method: 'POST',
  path: '/prime/webui/policy/rules/import',
  tag: 'Policy',
  permission: 'fleet:write',
  summary: 'Adds one rule per serial number of a list',
  description:
    'All rules have the same effect, hosts and expiry, and become one version of the policy. If a line is wrong, the response names each wrong line (the first 100) and nothing is added. With `dryRun`, the response counts the rules and their effect, and nothing is changed.',
  body: closed({
    text: Type.String({
      minLength: 1,
      maxLength: 2_097_152,
      description: `The list, one device per line, at most ${importedLines.toLocaleString('en')} lines, as plain text or CSV with commas, semicolons or tabs. With a header: the columns \`vid\`, \`pid\`, \`serial\` and \`reason\`, in any order; only \`serial\` is required. Without a header: the serial number; VID:PID and serial number; or VID, PID, serial number and reason. Lines without VID and PID use \`vid\` and \`pid\`, and lines without a reason use \`reason\`.`,
    }),
    effect,
    vid,
    pid,
    host,
    tag,
    expiresAt,
    reason,
    group: groupOfRules,
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  }),
  response: RuleImport,
  errors: ['conflict', 'forbidden_object', 'named_hosts_required', 'policy_tests_failed', 'second_person_required'],
  examples: {
    request: {
      text: 'vid,pid,serial\n0781,5571,4C530001230508112345\n0781,5571,4C530001230508112346',
      effect: 'allow',
      tag: 'kiosk',
      reason: 'Purchase order 4711',
    },
  },
})
