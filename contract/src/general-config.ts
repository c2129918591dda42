import { type Static, Type } from 'typebox'
import { type ConfigGroupName, configGroups, maskedSecret } from './config-items.ts'
import { closed, nullable, operation, page, utcTime } from './operation.ts'

const base = '/prime/webui/generalconfig'
const tag = 'GeneralConfig'

const mapText = `Values by name; of items that are not set what counts in their place. Secrets: \`${maskedSecret}\` when set, else empty.`

/** A flat map of items; secrets are masked. */
export const ConfigMap = Type.Record(Type.String(), Type.String(), { description: mapText })
export type ConfigMap = Static<typeof ConfigMap>

/** One item that a change touched. */
export const ConfigChange = closed({
  name: Type.String(),
  from: Type.String({ description: 'Before; empty: not set. A secret: `secret` or empty.' }),
  to: Type.String({ description: 'After; a secret: `secret (changed)` or empty.' }),
})
export type ConfigChange = Static<typeof ConfigChange>

/** The answer to a write: not the bare map, which is in `items` (ADR 38). */
export const ConfigSaved = closed({
  version: Type.Integer({
    minimum: 0,
    description: 'Version of the configuration now; as before when nothing changed.',
  }),
  changes: Type.Array(ConfigChange, { description: 'What this write changed; empty when nothing changed.' }),
  items: Type.Record(Type.String(), Type.String(), {
    description: `The whole group after the write. ${mapText}`,
  }),
})
export type ConfigSaved = Static<typeof ConfigSaved>

const example: Readonly<Partial<Record<ConfigGroupName, Readonly<Record<string, string>>>>> = {
  smtp: { SMTP_HOST: 'mail.example.org', SMTP_FROM: 'portcullis@example.org', SMTP_USER: 'portcullis' },
  domain: { SERVER_DOMAIN_NAME: 'portcullis.example.org' },
}

/** A text of a body: absent: as it is, null: not set any more. */
const given = (max: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: max }), { description }))

const textsOf = (group: ConfigGroupName): Record<string, ReturnType<typeof given>> =>
  Object.fromEntries(
    Object.entries(configGroups[group].items).map(([name, { label, description, kind, max }]) => [
      name,
      given(max, `${label}. ${description}${kind === 'secret' ? ` Write-only; \`${maskedSecret}\`: as it is.` : ''}`),
    ]),
  )

/** Body of a group: its items, all optional. */
const configBody = (group: ConfigGroupName, more: Record<string, ReturnType<typeof given>> = {}) =>
  Type.Object({ ...textsOf(group), ...more }, { additionalProperties: false })

/** Body of the licence, whose operation stands with the licence. */
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
    description: `Absent items stay, null or an empty text takes one away. All items are judged together before anything is stored; a new version is kept and audited with its differences. Answers the version, the changes, and the whole group in \`items\`, with secrets masked. ${
      configGroups[group].place.length > 0 ? 'Where a secret would be sent elsewhere, it has to be given again. ' : ''
    }${more.text ?? ''}`,
    permission: 'config:write',
    ...(more.fresh === undefined ? {} : { fresh: more.fresh }),
    body: configBody(group),
    bodyOptional: true,
    response: ConfigSaved,
    errors: ['conflict', 'destination_refused'],
    ...(example[group] === undefined ? {} : { examples: { request: example[group] } }),
  })

const linkText =
  'It decides who receives set-password links: while a second approver is required, a change becomes a change request.'
export const addOrUpdateSmtp = write('addOrUpdateSmtp', 'AddOrUpdateSMPTConfig', 'smtp', 'Changes how mail is sent', {
  text: linkText,
  fresh: true,
})
export const addOrUpdateLdap = write('addOrUpdateLdap', 'AddOrUpdateLDAPServer', 'ldap', 'Changes the directory', {
  fresh: true,
})
export const addOrUpdateOidc = write(
  'addOrUpdateOidc',
  'AddOrUpdateOIDCProvider',
  'oidc',
  'Changes the identity provider',
  { fresh: true },
)
export const addOrUpdateIse = write('addOrUpdateIse', 'AddOrUpdateISEServer', 'ise', 'Changes Cisco ISE')
export const addOrUpdateCact = write('addOrUpdateCact', 'AddOrUpdateCACTServer', 'cact', 'Changes Forescout CounterACT')
export const addOrUpdateLogin = write('addOrUpdateLogin', 'AddOrUpdateCustomLogin', 'login', 'Changes the login page')
export const addOrUpdateSecurity = write(
  'addOrUpdateSecurity',
  'AddOrUpdateSecurity',
  'security',
  'Changes who needs a second factor',
  {
    text: 'To switch a requirement on, you need a second factor yourself, unless a directory or provider signs you in. API tokens cannot change these items.',
    fresh: true,
  },
)
export const addOrUpdateVendorA = write(
  'addOrUpdateVendorA',
  'AddOrUpdateVendorA',
  'vendorA',
  'Changes settings of the product',
  {
    text: 'While a second approver is required, a change that requires one less often becomes a change request.',
    fresh: 'it raises the number of hosts that one person may free, delete or open alone',
  },
)
export const addOrUpdateHealth = write(
  'addOrUpdateHealth',
  'AddOrUpdateHealthThresholds',
  'health',
  'Changes when a part of the product counts as degraded',
)
export const setServerDomainName = write(
  'setServerDomainName',
  'SetServerDomainName',
  'domain',
  'Changes the name people reach this server by',
  { text: linkText, fresh: true },
)

export const removeSmtpPassword = operation({
  id: 'removeSmtpPassword',
  method: 'POST',
  path: `${base}/RemoveSmtpPassword`,
  tag,
  summary: 'Takes the password of the mail server away, and nothing else',
  permission: 'config:write',
  fresh: true,
  response: ConfigSaved,
})

const listed = (name: string, what: string) =>
  closed({
    [name]: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: `Comma list of ${what}, at most 50, any case.`,
    }),
  })

export const getConfigItemsByPrefix = operation({
  id: 'getConfigItemsByPrefix',
  method: 'GET',
  path: `${base}/GetConfigItemsByPrefix/{prefixes}`,
  tag,
  summary: 'Reads items whose names begin so',
  permission: 'config:read',
  params: listed('prefixes', 'beginnings of names'),
  response: ConfigMap,
})

export const getConfigItemsByName = operation({
  id: 'getConfigItemsByName',
  method: 'GET',
  path: `${base}/GetConfigItemsByName/{names}`,
  tag,
  summary: 'Reads items by name; unknown names are absent',
  permission: 'config:read',
  params: listed('names', 'names'),
  response: ConfigMap,
})

export const getConfigItemsByPrefixVendorA = operation({
  id: 'getConfigItemsByPrefixVendorA',
  method: 'GET',
  path: `${base}/GetConfigItemsByPrefixVendorA/{prefixes}`,
  tag,
  summary: "Reads items of the product's own namespace",
  description: '`VENDORA_` is put before each beginning.',
  permission: 'config:read',
  params: listed('prefixes', 'beginnings of names'),
  response: ConfigMap,
})

export const getCustomLoginConfigItems = operation({
  id: 'getCustomLoginConfigItems',
  method: 'GET',
  path: `${base}/GetCustomLoginConfigItems`,
  tag,
  summary: 'Reads how the login page looks',
  permission: 'public',
  response: ConfigMap,
})

/** A version of the configuration. */
export const ConfigVersion = closed({
  version: Type.Integer({ minimum: 1 }),
  changedAt: utcTime('When it was made.'),
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
      Type.String({ maxLength: 64, description: 'Only versions that touched an item whose name begins so.' }),
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
  summary: 'Makes the configuration what it was at a version, as a new version',
  fresh:
    'it changes sign-in settings or raises the number of hosts that one person may free, delete or open alone, and is not a dry run',
  description:
    'With dryRun=true it says what would change and stores nothing. Secrets of then come back with what they belong to; the licence and the number that asks a second person go through their own checks.',
  permission: 'config:write',
  params: closed({ version: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: '0: nothing set.' }) }),
  query: closed({
    dryRun: Type.Optional(Type.Boolean()),
    prefix: Type.Optional(Type.String({ maxLength: 64, description: 'Only items whose names begin so.' })),
  }),
  response: ConfigSaved,
  errors: ['conflict'],
})

/** One step of trying an integration. */
export const ConfigTestStep = closed({
  step: Type.String({ description: 'What was tried, for people.' }),
  ok: Type.Boolean(),
  message: Type.String({ description: 'What was seen, or what helps.' }),
})
export type ConfigTestStep = Static<typeof ConfigTestStep>

export const ConfigTested = closed({
  ok: Type.Boolean(),
  steps: Type.Array(ConfigTestStep),
})
export type ConfigTested = Static<typeof ConfigTested>

/** Tries a group: the map of its AddOrUpdate call, what is stored filling the gaps. */
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
    description: 'Takes the same items as changing it, stored ones fill the gaps; nothing is stored. Says each step.',
    permission: 'config:write',
    body: configBody(group, more),
    bodyOptional: true,
    response: ConfigTested,
  })

export const testSmtp = testOperation('testSmtp', 'TestSMTP', 'smtp', 'Tries the mail server', {
  SMTP_TEST_RECIPIENT: given(255, 'A real mail is sent there; absent: none is.'),
})

export const testDomainName = testOperation(
  'testDomainName',
  'TestDomainName',
  'domain',
  'Tries the name people reach this server by, and its certificate',
)

/** How an integration did lately. */
export const IntegrationUse = closed({
  name: Type.String({ description: 'Name of the group.' }),
  succeededAt: nullable(utcTime('Last success.')),
  failedAt: nullable(utcTime('Last failure.')),
  failure: Type.String({ description: 'What the last failure was; empty: none was.' }),
})

export const integrationUses = operation({
  id: 'integrationUses',
  method: 'GET',
  path: `${base}/integrations`,
  tag,
  summary: 'Says when each integration worked last, and why not',
  permission: 'config:read',
  response: closed({ data: Type.Array(IntegrationUse) }),
})

export const rotateKeys = operation({
  id: 'rotateKeys',
  fresh: true,
  method: 'POST',
  path: `${base}/RotateKeys`,
  tag,
  summary: 'Turns to a new key for secrets at rest, while the server runs',
  description:
    'A job: the key file gets a new key, everything sealed is wrapped by it, then the old key is taken out of the file. Copies of the file made before open nothing that is sealed from then on; backups made before need them.',
  permission: 'config:write',
  response: closed({ jobId: Type.String({ description: 'Job that does it.' }) }),
  errors: ['conflict'],
})

const icon = closed({
  icon: Type.Integer({ description: 'Number as in devIcon.' }),
  description: Type.String({ description: 'Kind of peripheral.' }),
  svg: Type.String({ description: 'Picture, 24 by 24, in the current colour; no script, no reference.' }),
})

export const getIcons = operation({
  id: 'getIcons',
  method: 'GET',
  path: `${base}/geticons`,
  tag,
  summary: 'Lists icons of peripherals',
  permission: 'fleet:read',
  response: Type.Array(icon),
})
