import { type Static, Type } from 'typebox'
import { ConfigChange } from './general-config.ts'
import { NotificationGroupChange } from './notification-groups.ts'
import { closed, nullable, operation } from './operation.ts'
import { PolicyRuleInput } from './policy.ts'

const path = '/prime/webui/generalconfig/document'

/** The configuration as one document. What it does not name stays as it is. */
export const ConfigDocument = closed({
  settings: Type.Optional(
    nullable(Type.Record(Type.String(), nullable(Type.String({ maxLength: 350_000 })), { maxProperties: 200 }), {
      description: 'Items of the general configuration by name; null takes one away. Secrets in the clear.',
    }),
  ),
  tags: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10_000 }), {
      description: 'Tags that are to be there. Others are not deleted.',
    }),
  ),
  notificationGroups: Type.Optional(
    nullable(Type.Array(NotificationGroupChange, { maxItems: 100 }), {
      description:
        'Notification groups by id; what a group does not name stays. A webhook that is switched on needs its secret here.',
    }),
  ),
  rules: Type.Optional(
    nullable(Type.Array(PolicyRuleInput, { maxItems: 10_000 }), {
      description:
        'All rules that people wrote: others of that kind are deleted. Approvals and denials of devices, and grants, are not touched.',
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
  summary: 'Gives the configuration as one document',
  description:
    'Settings that have a value, tags, rules and notification groups. Secrets that are set, and the path and query of webhooks, are masked as `********`.',
  permission: 'config:write',
  response: ConfigDocument,
  examples: { response: example },
})

export const applyConfigDocument = operation({
  id: 'applyConfigDocument',
  method: 'POST',
  path,
  tag: 'GeneralConfig',
  summary: 'Makes the configuration what a document says, all of it or nothing',
  fresh:
    'it changes sign-in settings or raises the number of hosts that one person may free, delete or open alone, and is not a dry run',
  description:
    'With dryRun=true it says what would change and stores nothing. `********` keeps a secret. Each part goes through the checks of its own calls.',
  permission: 'config:write',
  query: closed({ dryRun: Type.Optional(Type.Boolean()) }),
  body: ConfigDocument,
  response: closed({
    settings: Type.Array(ConfigChange),
    tags: closed({ added: Type.Array(Type.String()) }),
    notificationGroups: Type.Array(
      closed({ groupName: Type.String(), changes: Type.String({ description: 'What changes of it, in words.' }) }),
    ),
    rules: closed({
      added: Type.Array(Type.String({ description: 'The rule as a sentence.' })),
      removed: Type.Array(Type.String()),
    }),
  }),
  errors: ['not_found', 'conflict', 'licence_invalid', 'second_person_required'],
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
