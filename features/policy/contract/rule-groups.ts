import { apiPrefix, closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Maximum number of rule groups. */
export const mostGroups = 500
/** Maximum number of rules that one request moves. */
export const mostMoved = 10_000

const groupName = (description: string) => typedText({ minLength: 1, maxLength: 60, description })

const content = {
  name: groupName('Name of the group. Unique, ignoring case.'),
  owner: typedText({
    maxLength: 100,
    description: 'Person or team that is responsible for these rules. Empty: nobody.',
  }),
  reviewOn: nullable(
    Type.String({
      maxLength: 10,
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      description: 'Date (UTC) by which these rules must be reviewed. `null`: no review is planned.',
    }),
  ),
}

export const groupOfRules = Type.Optional(
  nullable(
    groupName(
      'Name of the group for the new rules, ignoring case. If the group does not exist, the server creates it.',
    ),
  ),
)

/** A rule group. */
export const RuleGroup = closed({
  id: Type.String({ description: 'ID of the group.' }),
  ...content,
  isReviewDue: Type.Boolean({ description: 'True if the review date is today or earlier.' }),
  rules: Type.Integer({ description: 'Number of rules in the group.' }),
  hits: Type.Integer({ description: 'Number of hits of the rules in the group in the last 30 days.' }),
  unused: Type.Integer({ description: 'Number of unused rules in the group.' }),
  shadowed: Type.Integer({ description: 'Number of shadowed rules in the group.' }),
  changedAt: utcTime('Time of the last change of the group itself.'),
  changedBy: Type.String({ description: 'Account that made this change.' }),
})
export type RuleGroup = Static<typeof RuleGroup>

const params = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the group.' }) })
const path = `${apiPrefix}/policy/groups`
const given = { name: 'Kiosks', owner: 'Audio desk', reviewOn: '2031-11-01' }
const example = {
  ...{
    id: '01936f2a-7c11-7abc-8def-0123456789ab',
    ...given,
    isReviewDue: false,
    rules: 125,
    hits: 340,
    unused: 3,
    shadowed: 1,
  },
  ...{ changedAt: '2031-05-04T10:11:12.345Z', changedBy: 'admin' },
}

export const listRuleGroups = operation({
  id: 'listRuleGroups',
  method: 'GET',
  path,
  tag: 'Policy',
  summary: 'Lists the rule groups by name',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(RuleGroup) }),
  examples: { response: { data: [example] } },
})

export const createRuleGroup = operation({
  id: 'createRuleGroup',
  method: 'POST',
  path,
  tag: 'Policy',
  summary: 'Adds a rule group',
  description: `A group gives rules a name, an owner and a review date, and changes no decision. A server can have ${mostGroups} groups.`,
  permission: 'fleet:write',
  errors: ['conflict'],
  body: closed(content),
  response: RuleGroup,
  examples: { request: given, response: { ...example, rules: 0, hits: 0, unused: 0, shadowed: 0 } },
})

export const updateRuleGroup = operation({
  id: 'updateRuleGroup',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'Policy',
  summary: 'Changes a rule group',
  permission: 'fleet:write',
  errors: ['conflict', 'not_found'],
  params,
  body: closed({
    ...content,
    ifChangedAt: Type.Optional(
      utcTime(
        '`changedAt` of the group as the caller read it. If the group has changed since, the server returns 409 with the name of the person, and changes nothing. Absent: the change is made in any case.',
      ),
    ),
  }),
  response: RuleGroup,
  examples: { request: { ...given, ifChangedAt: example.changedAt }, response: example },
})

export const deleteRuleGroup = operation({
  id: 'deleteRuleGroup',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'Policy',
  summary: 'Deletes a rule group and keeps its rules',
  permission: 'fleet:write',
  errors: ['not_found'],
  params,
  response: closed({
    deleted: Type.String({ description: 'ID of the group.' }),
    rules: Type.Integer({ description: 'Number of rules that are now in no group.' }),
  }),
  examples: { response: { deleted: example.id, rules: 125 } },
})

export const moveRules = operation({
  id: 'moveRules',
  method: 'POST',
  path: `${path}/rules`,
  tag: 'Policy',
  summary: 'Moves rules to a group, or removes them from their groups',
  description:
    'The server moves all rules or none. The policy gets no new version, because no decision changes. Grants cannot be in a group.',
  permission: 'fleet:write',
  errors: ['conflict'],
  body: closed({
    ruleIds: Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: mostMoved,
      description: 'IDs of the rules.',
    }),
    group: nullable(
      groupName(
        'Name of the group, ignoring case. If the group does not exist, the server creates it. `null`: no group.',
      ),
    ),
  }),
  response: closed({
    moved: Type.Integer({ description: 'Number of rules that were not in this group before.' }),
    group: nullable(RuleGroup, { description: 'The group. `null`: the rules are in no group.' }),
  }),
  examples: {
    request: { ruleIds: ['01936f2a-7c11-7abc-8def-0123456789ac'], group: 'Kiosks' },
    response: { moved: 1, group: example },
  },
})
