import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { NotificationGroupChange } from '#features/alerts/contract/notification-groups.ts'
import { PolicyRuleInput } from '#features/policy/contract/policy.ts'
import { ConfigChange } from '#features/settings/contract/general-config.ts'

const path = '/prime/webui/generalconfig/document'

/** The configuration as one document. Parts and items that are absent keep their values. */
export const ConfigDocument = closed({
  settings: Type.Optional(
    nullable(
      Type.Record(Type.String({ pattern: '^.{1,64}$' }), nullable(Type.String({ maxLength: 350_000 })), {
        maxProperties: 200,
        additionalProperties: false,
      }),
      { description: 'Settings by name. `null` resets a setting to its default. Secrets are in plain text.' },
    ),
  ),
  tags: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10_000 }), {
      description: 'Tags to create if they are missing. Other tags are not deleted.',
    }),
  ),
  notificationGroups: Type.Optional(
    nullable(Type.Array(NotificationGroupChange, { maxItems: 100 }), {
      description:
        'Notification groups by ID. Absent fields of a group keep their values. To enable a webhook, include its secret.',
    }),
  ),
  rules: Type.Optional(
    nullable(Type.Array(PolicyRuleInput, { maxItems: 10_000 }), {
      description:
        'All rules that people wrote. Rules of this kind that are not in the document are deleted. Approvals and denials of devices and grants are not changed.',
    }),
  ),
})
export type ConfigDocument = Static<typeof ConfigDocument>

const example: ConfigDocument = {
  settings: { SMTP_HOST: 'mail.example.org', SMTP_PASSWORD: '********' },
  tags: ['kiosk'],
  notificationGroups: [{ id: 1, minimumSeverity: 'Error' }],
  rules: [],
}

export const readConfigDocument = operation({
  id: 'readConfigDocument',
  method: 'GET',
  path,
  tag: 'GeneralConfig',
  summary: 'Returns the configuration as one document',
  description:
    'Contains the settings that have a value, and all tags, rules and notification groups. Secrets and the path and query of webhooks are masked as `********`.',
  permission: 'config:write',
  response: ConfigDocument,
  examples: { response: example },
})

export const applyConfigDocument = operation({
  id: 'applyConfigDocument',
  method: 'POST',
  path,
  tag: 'GeneralConfig',
  summary: 'Applies a configuration document as a whole',
  fresh:
    'it changes sign-in settings or raises the limit of hosts that one person may change alone, and is not a dry run',
  description:
    'If one part is invalid, nothing is changed. With `dryRun=true`, the response lists the changes and nothing is stored. `********` keeps a secret. Each part passes the same checks as its own operations.',
  permission: 'config:write',
  query: closed({ dryRun: Type.Optional(Type.Boolean()) }),
  body: ConfigDocument,
  response: closed({
    settings: Type.Array(ConfigChange),
    tags: closed({ added: Type.Array(Type.String()) }),
    notificationGroups: Type.Array(
      closed({ groupName: Type.String(), changes: Type.String({ description: 'The changes of the group, as text.' }) }),
    ),
    rules: closed({
      added: Type.Array(Type.String({ description: 'The rule as a sentence.' })),
      removed: Type.Array(Type.String()),
    }),
  }),
  errors: [
    'not_found',
    'conflict',
    'licence_invalid',
    'named_hosts_required',
    'policy_tests_failed',
    'second_person_required',
    'destination_refused',
  ],
  examples: {
    request: example,
    response: {
      settings: [{ name: 'SMTP_HOST', from: '', to: 'mail.example.org' }],
      tags: { added: ['kiosk'] },
      notificationGroups: [{ groupName: 'Attacks', changes: 'minimum severity: Warning → Error' }],
      rules: { added: [], removed: [] },
    },
  },
})
