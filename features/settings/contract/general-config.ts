import { closed, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { type ConfigGroupName, configGroups, maskedSecret } from './config-items.ts'

const base = '/prime/webui/generalconfig'
const tag = 'GeneralConfig'

const mapText = `Values by name. Settings without a value have their default. A secret is \`${maskedSecret}\` if it is set, otherwise empty.`

/** A flat map of settings. Secrets are masked. */
export const ConfigMap = Type.Record(Type.String(), Type.String(), { description: mapText })
export type ConfigMap = Static<typeof ConfigMap>

/** A change of one setting. */
export const ConfigChange = closed({
  name: Type.String(),
  from: Type.String({ description: 'Old value. Empty: not set. A secret is shown as `secret` or empty.' }),
  to: Type.String({ description: 'New value. A secret is shown as `secret (changed)` or empty.' }),
})
export type ConfigChange = Static<typeof ConfigChange>

/** The response to a write. The map of settings is in `items` (ADR 38). */
export const ConfigSaved = closed({
  version: Type.Integer({
    minimum: 0,
    description: 'Current version of the configuration. Unchanged if nothing changed.',
  }),
  changes: Type.Array(ConfigChange, { description: 'Changes of this call. Empty if nothing changed.' }),
  items: Type.Record(Type.String(), Type.String(), {
    description: `All settings of the group after the write. ${mapText}`,
  }),
})
export type ConfigSaved = Static<typeof ConfigSaved>

const example: Readonly<Partial<Record<ConfigGroupName, Readonly<Record<string, string>>>>> = {
  smtp: { SMTP_HOST: 'mail.example.org', SMTP_FROM: 'portcullis@example.org', SMTP_USER: 'portcullis' },
  domain: { SERVER_DOMAIN_NAME: 'portcullis.example.org' },
}

/** Defines an optional setting in a body. Absent keeps the value; `null` resets it to the default. */
const given = (max: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: max }), { description }))

const textsOf = (group: ConfigGroupName): Record<string, ReturnType<typeof given>> =>
  Object.fromEntries(
    Object.entries(configGroups[group].items).map(([name, { description, kind, max }]) => [
      name,
      given(max, `${description}${kind === 'secret' ? ` Write-only. \`${maskedSecret}\` keeps the value.` : ''}`),
    ]),
  )

/** Defines the body of a group: its settings, all optional. */
const configBody = (group: ConfigGroupName, more: Record<string, ReturnType<typeof given>> = {}) =>
  Type.Object({ ...textsOf(group), ...more }, { additionalProperties: false })

/** The values that the caller read, to detect that another person changed them. */
const ifValues = (group: ConfigGroupName) =>
  Type.Optional(
    Type.Object(
      Object.fromEntries(
        Object.entries(configGroups[group].items).map(([name, { max }]) => [
          name,
          Type.Optional(Type.String({ maxLength: max })),
        ]),
      ),
      {
        additionalProperties: false,
        description:
          'Values as the caller read them. If a setting of this request has another value now, the server returns 409 with the name of the person who changed it, and changes nothing. For a secret, the value only says whether it is set. Absent: the last write wins.',
      },
    ),
  )

/** Body of the licence. Its operation is in licence.ts. */
export const licenceBody = configBody('license')

const write = (
  id: string,
  path: string,
  group: ConfigGroupName,
  summary: string,
  more: { text?: string; fresh?: true | string } = {},
) =>
  operation({
    id,
    method: 'POST',
    path: `${base}/${path}`,
    tag,
    summary,
    description: `Absent settings keep their values. \`null\` or an empty string resets a setting to its default. The server validates all settings together before it stores anything. Each change creates a new version and is audited. The response contains the version, the changes, and the group in \`items\` with masked secrets.${
      configGroups[group].place.length > 0
        ? ' If you change the address that a secret is sent to, send the secret again.'
        : ''
    }${more.text === undefined ? '' : ` ${more.text}`}`,
    permission: 'config:write',
    ...(more.fresh === undefined ? {} : { fresh: more.fresh }),
    body: Type.Object({ ...textsOf(group), ifValues: ifValues(group) }, { additionalProperties: false }),
    bodyOptional: true,
    response: ConfigSaved,
    errors: [
      'conflict',
      'destination_refused',
      ...(more.fresh === undefined ? [] : (['second_person_required'] as const)),
    ],
    ...(example[group] === undefined ? {} : { examples: { request: example[group] } }),
  })

const linkText =
  'This setting decides who receives set-password links. While a second approver is required, a change becomes a change request.'
export const addOrUpdateSmtp = write('addOrUpdateSmtp', 'AddOrUpdateSMPTConfig', 'smtp', 'Changes the mail settings', {
  text: linkText,
  fresh: true,
})
export const addOrUpdateLdap = write(
  'addOrUpdateLdap',
  'AddOrUpdateLDAPServer',
  'ldap',
  'Changes the directory settings',
  {
    fresh: true,
  },
)
export const addOrUpdateOidc = write(
  'addOrUpdateOidc',
  'AddOrUpdateOIDCProvider',
  'oidc',
  'Changes the settings of the identity provider',
  { fresh: true },
)
export const addOrUpdateIse = write('addOrUpdateIse', 'AddOrUpdateISEServer', 'ise', 'Changes the Cisco ISE settings')
export const addOrUpdateCact = write(
  'addOrUpdateCact',
  'AddOrUpdateCACTServer',
  'cact',
  'Changes the Forescout CounterACT settings',
)
export const addOrUpdateLogin = write('addOrUpdateLogin', 'AddOrUpdateCustomLogin', 'login', 'Changes the sign-in page')
export const addOrUpdateSecurity = write(
  'addOrUpdateSecurity',
  'AddOrUpdateSecurity',
  'security',
  'Changes the second-factor requirements',
  {
    text: 'To enable a requirement, you need a second factor yourself, unless a directory or identity provider signs you in. API tokens cannot change these settings.',
    fresh: true,
  },
)
export const addOrUpdateVendorA = write(
  'addOrUpdateVendorA',
  'AddOrUpdateVendorA',
  'vendorA',
  'Changes the product settings',
  {
    text: 'While a second approver is required, a change that requires one less often becomes a change request.',
    fresh: 'it raises the limit of hosts that one person may change alone, or turns on Windows enforcement',
  },
)
export const addOrUpdateHealth = write(
  'addOrUpdateHealth',
  'AddOrUpdateHealthThresholds',
  'health',
  'Changes the health thresholds',
)
export const addOrUpdateBackup = write(
  'addOrUpdateBackup',
  'AddOrUpdateBackup',
  'backup',
  'Changes the scheduled backups',
  {
    text: 'The server checks that it can write to the folder. API tokens cannot change these settings.',
    fresh: true,
  },
)
export const setServerDomainName = write(
  'setServerDomainName',
  'SetServerDomainName',
  'domain',
  'Changes the domain name of this server',
  { text: linkText, fresh: true },
)

export const removeSmtpPassword = operation({
  id: 'removeSmtpPassword',
  method: 'POST',
  path: `${base}/RemoveSmtpPassword`,
  tag,
  summary: 'Deletes the password of the mail server',
  permission: 'config:write',
  fresh: true,
  response: ConfigSaved,
  errors: ['second_person_required'],
})

const listed = (name: string, what: string) =>
  closed({
    [name]: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: `At most 50 ${what}, separated by commas, ignoring case.`,
    }),
  })

export const getConfigItemsByPrefix = operation({
  id: 'getConfigItemsByPrefix',
  method: 'GET',
  path: `${base}/GetConfigItemsByPrefix/{prefixes}`,
  tag,
  summary: 'Returns settings by the prefixes of their names',
  permission: 'config:read',
  params: listed('prefixes', 'prefixes'),
  response: ConfigMap,
})

export const getConfigItemsByName = operation({
  id: 'getConfigItemsByName',
  method: 'GET',
  path: `${base}/GetConfigItemsByName/{names}`,
  tag,
  summary: 'Returns settings by name',
  description: 'The response omits unknown names.',
  permission: 'config:read',
  params: listed('names', 'names'),
  response: ConfigMap,
})

export const getConfigItemsByPrefixVendorA = operation({
  id: 'getConfigItemsByPrefixVendorA',
  method: 'GET',
  path: `${base}/GetConfigItemsByPrefixVendorA/{prefixes}`,
  tag,
  summary: 'Returns product settings by the prefixes of their names',
  description: 'The server adds `VENDORA_` before each prefix.',
  permission: 'config:read',
  params: listed('prefixes', 'prefixes'),
  response: ConfigMap,
})

export const getCustomLoginConfigItems = operation({
  id: 'getCustomLoginConfigItems',
  method: 'GET',
  path: `${base}/GetCustomLoginConfigItems`,
  tag,
  summary: 'Returns the custom texts and colours of the sign-in page',
  permission: 'public',
  response: ConfigMap,
})

/** A version of the configuration. */
export const ConfigVersion = closed({
  version: Type.Integer({ minimum: 1 }),
  changedAt: utcTime('Time of the change.'),
  changedBy: Type.String(),
  changes: Type.Array(ConfigChange),
})
export type ConfigVersion = Static<typeof ConfigVersion>

export const configHistory = operation({
  id: 'configHistory',
  method: 'GET',
  path: `${base}/history`,
  tag,
  summary: 'Lists versions of the configuration, newest first',
  permission: 'config:read',
  query: closed({
    PageNumber: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
    prefix: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Only versions that changed a setting whose name starts with this prefix.',
      }),
    ),
  }),
  response: page(ConfigVersion),
  responseKind: 'list',
})

export const configRollback = operation({
  id: 'configRollback',
  method: 'POST',
  path: `${base}/rollback/{version}`,
  tag,
  summary: 'Restores an earlier version of the configuration',
  fresh:
    'it changes sign-in settings or raises the limit of hosts that one person may change alone, and is not a dry run',
  description:
    'The restored settings become a new version. With `dryRun=true`, the response lists the changes and nothing is stored. Secrets are restored together with the settings that they belong to. The licence and the limit for a second approver pass their usual checks.',
  permission: 'config:write',
  params: closed({
    version: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Version to restore. 0: no settings.' }),
  }),
  query: closed({
    dryRun: Type.Optional(Type.Boolean()),
    prefix: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only settings whose names start with this prefix.' }),
    ),
  }),
  response: ConfigSaved,
  errors: ['conflict', 'second_person_required', 'destination_refused', 'licence_invalid'],
})

/** A step of a connection test. */
export const ConfigTestStep = closed({
  step: Type.String({ description: 'Display name of the step.' }),
  ok: Type.Boolean(),
  message: Type.String({ description: 'Result of the step, or the cure if it failed.' }),
  field: Type.Optional(
    Type.String({
      description:
        'Member of the request to correct, such as `LDAP_URL` or `channels.webhook.url`. Absent if the step passed or no member is at fault.',
    }),
  ),
})
export type ConfigTestStep = Static<typeof ConfigTestStep>

export const ConfigTested = closed({
  ok: Type.Boolean(),
  steps: Type.Array(ConfigTestStep),
})
export type ConfigTested = Static<typeof ConfigTested>

/** Defines a connection test for a group. It takes the settings of the AddOrUpdate call; stored values replace absent ones. */
export const testOperation = (
  id: string,
  path: string,
  group: ConfigGroupName,
  summary: string,
  more: Record<string, ReturnType<typeof given>> = {},
) =>
  operation({
    id,
    method: 'POST',
    path: `${base}/${path}`,
    tag,
    summary,
    description:
      'Takes the same settings as the operation that changes them. Stored values replace absent ones. Nothing is stored. The response lists each step.',
    permission: 'config:write',
    body: configBody(group, more),
    bodyOptional: true,
    response: ConfigTested,
  })

export const testSmtp = testOperation('testSmtp', 'TestSMTP', 'smtp', 'Tests the connection to the mail server', {
  SMTP_TEST_RECIPIENT: given(255, 'Recipient of a test message. Absent: no message is sent.'),
})

export const testDomainName = testOperation(
  'testDomainName',
  'TestDomainName',
  'domain',
  'Tests the domain name of this server and its certificate',
)

/** The last results of an integration. */
export const IntegrationUse = closed({
  name: Type.String({ description: 'Name of the settings group.' }),
  succeededAt: nullable(utcTime('Time of the last success.')),
  failedAt: nullable(utcTime('Time of the last failure.')),
  failure: Type.String({ description: 'Error of the last failure. Empty: there was none.' }),
})

export const integrationUses = operation({
  id: 'integrationUses',
  method: 'GET',
  path: `${base}/integrations`,
  tag,
  summary: 'Returns the last success and failure of each integration',
  permission: 'config:read',
  response: closed({ data: Type.Array(IntegrationUse) }),
})

export const rotateKeys = operation({
  id: 'rotateKeys',
  fresh: true,
  method: 'POST',
  path: `${base}/RotateKeys`,
  tag,
  summary: 'Rotates the key for secrets at rest',
  description:
    'Starts a job while the server runs. The job adds a new key to the key file, re-encrypts all secrets with it, and then removes the old key from the file. Older copies of the key file cannot decrypt the secrets after that, but older backups still need them.',
  permission: 'config:write',
  response: closed({ jobId: Type.String({ description: 'ID of the job.' }) }),
  errors: ['conflict'],
})

const icon = closed({
  icon: Type.Integer({ description: 'Number of the icon, as in `devIcon`.' }),
  description: Type.String({ description: 'Kind of the device.' }),
  svg: Type.String({
    description: 'Icon as SVG, 24 by 24, in the current colour. It contains no scripts and no references.',
  }),
})

export const getIcons = operation({
  id: 'getIcons',
  method: 'GET',
  path: `${base}/geticons`,
  tag,
  summary: 'Lists the icons of device kinds',
  permission: 'fleet:read',
  response: Type.Array(icon),
})
