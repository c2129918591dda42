/**
 * The general configuration as data: what each item means, what it may hold and what counts while it is not set. The
 * server validates by it, the console draws its forms from it, and the reference is generated from it.
 */

/** What a value may be; `secret` items are written and never read. */
export type ConfigKind =
  | 'text'
  | 'lines'
  | 'host'
  | 'https'
  | 'ldap'
  | 'email'
  | 'boolean'
  | 'integer'
  | 'share'
  | 'choice'
  | 'secret'
  | 'certificates'
  | 'image'
  | 'color'
  | 'dn'
  | 'filter'
  | 'attribute'
  | 'tags'
  | 'authority'
  | 'licence'

export interface ConfigItem {
  /** What people read beside the field. */
  readonly label: string
  /** Meaning, unit and limits in a sentence or two. */
  readonly description: string
  readonly kind: ConfigKind
  /** What counts while it is not set. */
  readonly default: string
  /** Most UTF-16 units. */
  readonly max: number
  /** Values of a choice. */
  readonly choices?: readonly string[]
  /** Bounds of an integer. */
  readonly range?: readonly [number, number]
}

export interface ConfigGroup {
  readonly title: string
  readonly items: Readonly<Record<string, ConfigItem>>
  /** Where its secrets are sent: a change of one of these needs the secrets again. */
  readonly place: readonly string[]
}

type Given = Partial<Pick<ConfigItem, 'default' | 'max' | 'choices' | 'range'>>
const item = (kind: ConfigKind, label: string, description: string, more: Given = {}): ConfigItem => ({
  label,
  description,
  kind,
  default: more.default ?? (kind === 'boolean' ? 'false' : ''),
  max:
    more.max ??
    { certificates: 65_536, lines: 4_096, image: 350_000, filter: 1_024, dn: 1_024, licence: 8_192 }[kind as string] ??
    255,
  ...(more.choices === undefined ? {} : { choices: more.choices }),
  ...(more.range === undefined ? {} : { range: more.range }),
})
const group = <const I extends Record<string, ConfigItem>>(
  title: string,
  place: readonly (keyof I & string)[],
  items: I,
) => ({
  title,
  place,
  items,
})

const ca = item(
  'certificates',
  'Certificate authority',
  'PEM certificates to trust in place of those of the system; empty: those of the system.',
)
const enabled = (what: string) => item('boolean', 'In use', `${what} is used while this is true.`)
const autoQuarantine = item(
  'boolean',
  'Quarantine by itself',
  'A host on which a confirmed attack tool stays attached for 30 seconds is quarantined without a person.',
)
const perTenMinutes = item(
  'integer',
  'At most in ten minutes',
  'More addresses than this within ten minutes wait for a person, and so does a host with more than four: a mistake must not take a site off the network.',
  { default: '5', range: [0, 1_000] },
)
const excludeTags = item(
  'tags',
  'Never these tags',
  'Hosts that carry one of these tags (comma list) are never quarantined without a person.',
)
const neverAddresses = item(
  'text',
  'Never these addresses',
  'MAC addresses (comma list) that are never quarantined, by anybody: routers, servers, controllers.',
  { max: 1_000 },
)
const quarantineHours = item('integer', 'Hours', 'A quarantine ends by itself after so many hours; 0: it does not.', {
  default: '24',
  range: [0, 8_760],
})

const threshold = (label: string, description: string, value: number, range: readonly [number, number]) =>
  item('integer', label, description, { default: String(value), range })

/** Groups by the name in their operations. */
export const configGroups = {
  smtp: group('Mail', ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY', 'SMTP_CA'], {
    SMTP_HOST: item('host', 'Server', 'Name or address of the SMTP server; empty: no mail is sent.'),
    SMTP_PORT: item('integer', 'Port', 'TCP port.', { default: '587', range: [1, 65_535] }),
    SMTP_SECURITY: item(
      'choice',
      'Security',
      '`starttls`: TLS is demanded after the greeting; `tls`: from the first byte; `none`: in the clear, without a password.',
      { default: 'starttls', choices: ['none', 'starttls', 'tls'] },
    ),
    SMTP_USER: item('text', 'User', 'Whom to sign in as; empty: without signing in.'),
    SMTP_PASSWORD: item('secret', 'Password', 'Password of the user.', { max: 1_024 }),
    SMTP_FROM: item('email', 'Sender', 'Address that mails come from.'),
    SMTP_CA: ca,
  }),
  ldap: group('Directory', ['LDAP_URL', 'LDAP_SECURITY', 'LDAP_CA'], {
    LDAP_ENABLED: enabled('Sign-in by the directory'),
    LDAP_URL: item(
      'ldap',
      'Address',
      '`ldap://host[:port]` or `ldaps://host[:port]`; up to three, separated by blanks, tried in order.',
      {
        max: 512,
      },
    ),
    LDAP_SECURITY: item(
      'choice',
      'Security',
      '`starttls` and `tls` check the certificate; `none` sends passwords in the clear and is refused but for this machine.',
      { default: 'starttls', choices: ['none', 'starttls', 'tls'] },
    ),
    LDAP_CA: ca,
    LDAP_BIND_DN: item('dn', 'Bind DN', 'Account that looks people up; empty: anonymously.'),
    LDAP_BIND_PASSWORD: item('secret', 'Bind password', 'Its password.', { max: 1_024 }),
    LDAP_BASE_DN: item('dn', 'Base DN', 'Where people, and groups, are looked for, with all below.'),
    LDAP_USER_FILTER: item(
      'filter',
      'Filter of people',
      'RFC 4515; `{username}` stands for the name somebody signs in by, escaped. Empty: the name attribute equals it.',
    ),
    LDAP_USERNAME_ATTRIBUTE: item('attribute', 'Name attribute', '`uid`, or `sAMAccountName` of Active Directory.', {
      default: 'uid',
    }),
    LDAP_GROUP_ATTRIBUTE: item(
      'attribute',
      'Group attribute',
      '`memberOf`: groups stand at the person. `member` or `uniqueMember`: people stand at the group. Nested groups count, ten levels deep. `memberUid`: their names do.',
      { default: 'memberOf' },
    ),
    LDAP_ADMINISTRATOR_GROUP: item('dn', 'Administrators', 'DN of the group whose members are Administrators.'),
    LDAP_MANAGER_GROUP: item('dn', 'Managers', 'DN of the group whose members are Managers.'),
    LDAP_USER_GROUP: item('dn', 'Users', 'DN of the group whose members are Users.'),
  }),
  oidc: group('Identity provider', ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CA'], {
    OIDC_ENABLED: enabled('Sign-in by the identity provider'),
    OIDC_NAME: item('text', 'Button', 'What the button of the login page says.', {
      default: 'Single sign-on',
      max: 60,
    }),
    OIDC_ISSUER: item(
      'https',
      'Issuer',
      'Address of the provider; `/.well-known/openid-configuration` is read below it.',
    ),
    OIDC_CLIENT_ID: item('text', 'Client id', 'As the provider gave it.'),
    OIDC_CLIENT_SECRET: item('secret', 'Client secret', 'As the provider gave it; empty for a public client.', {
      max: 1_024,
    }),
    OIDC_CA: ca,
    OIDC_SCOPES: item('text', 'Scopes', 'Separated by blanks; `openid` is always asked for.', {
      default: 'openid profile email',
    }),
    OIDC_USERNAME_CLAIM: item('attribute', 'Name claim', 'Claim that holds the name of the account.', {
      default: 'preferred_username',
    }),
    OIDC_GROUPS_CLAIM: item('attribute', 'Groups claim', 'Claim that lists groups or roles.', { default: 'groups' }),
    OIDC_ADMINISTRATOR_GROUP: item('text', 'Administrators', 'Value of the groups claim that makes an Administrator.'),
    OIDC_MANAGER_GROUP: item('text', 'Managers', 'Value that makes a Manager.'),
    OIDC_USER_GROUP: item('text', 'Users', 'Value that makes a User.'),
  }),
  ise: group('Cisco ISE', ['ISE_URL', 'ISE_CA'], {
    ISE_ENABLED: enabled('Cisco ISE'),
    ISE_URL: item('https', 'Address', 'Of the primary administration node, with port: `https://ise.example.org:9060`.'),
    ISE_USER: item('text', 'User', 'Internal administrator of the group ERS Admin.'),
    ISE_PASSWORD: item('secret', 'Password', 'Its password.', { max: 1_024 }),
    ISE_CA: ca,
    ISE_ANC_POLICY: item('text', 'ANC policy', 'Name of the policy that quarantines; it has to exist in ISE.', {
      max: 32,
    }),
    ISE_AUTO_QUARANTINE: autoQuarantine,
    ISE_MAX_PER_10_MINUTES: perTenMinutes,
    ISE_EXCLUDE_TAGS: excludeTags,
    ISE_NEVER_ADDRESSES: neverAddresses,
    ISE_QUARANTINE_HOURS: quarantineHours,
  }),
  cact: group('Forescout CounterACT', ['CACT_URL', 'CACT_CA', 'CACT_DEX_ACCOUNT'], {
    CACT_ENABLED: enabled('Forescout CounterACT'),
    CACT_URL: item('https', 'Address', 'Of the Enterprise Manager.'),
    CACT_USER: item('text', 'Web API user', 'Reads hosts.'),
    CACT_PASSWORD: item('secret', 'Web API password', 'Its password.', { max: 1_024 }),
    CACT_DEX_ACCOUNT: item('text', 'DEX account', '`user@account` of Data Exchange; writes the property.'),
    CACT_DEX_PASSWORD: item('secret', 'DEX password', 'Its password.', { max: 1_024 }),
    CACT_CA: ca,
    CACT_PROPERTY: item(
      'attribute',
      'Property',
      'Property of hosts that says `quarantine`; defined in CounterACT, where a policy acts on it.',
      { default: 'portcullis_state' },
    ),
    CACT_TOKEN_STYLE: item('choice', 'Token', 'How the token of the Web API is sent; versions differ.', {
      default: 'bare',
      choices: ['bare', 'bearer'],
    }),
    CACT_AUTO_QUARANTINE: autoQuarantine,
    CACT_MAX_PER_10_MINUTES: perTenMinutes,
    CACT_EXCLUDE_TAGS: excludeTags,
    CACT_NEVER_ADDRESSES: neverAddresses,
    CACT_QUARANTINE_HOURS: quarantineHours,
  }),
  security: group('Sign-in security', [], {
    SECURITY_FACTOR_ADMINISTRATORS: item(
      'boolean',
      'Second factor for Administrators',
      'Requires a second factor for local accounts of profile Administrator. You need one yourself to switch this on.',
    ),
    SECURITY_FACTOR_MANAGERS: item(
      'boolean',
      'Second factor for Managers',
      'Requires a second factor for local accounts of profile Manager. You need one yourself to switch this on.',
    ),
    SECURITY_FACTOR_USERS: item(
      'boolean',
      'Second factor for Users',
      'Requires a second factor for local accounts of profile User. You need one yourself to switch this on.',
    ),
    SECURITY_FACTOR_GRACE_DAYS: item(
      'integer',
      'Grace period in days',
      'Starts when a requirement is switched on. When it ends, accounts without a second factor can sign in only to set one up.',
      { default: '14', range: [0, 90] },
    ),
  }),
  login: group('Login page', [], {
    CUSTOM_LOGIN_TITLE: item('text', 'Title', 'Heading of the login page.', { default: 'Portcullis', max: 80 }),
    CUSTOM_LOGIN_MESSAGE: item('lines', 'Message', 'Text under the heading.', { max: 1_000 }),
    CUSTOM_LOGIN_BANNER: item('lines', 'Banner', 'Has to be accepted before anybody signs in; empty: none.'),
    CUSTOM_LOGIN_LOGO: item('image', 'Logo', 'PNG of at most 256 KiB and 2,000 pixels a side, as data URI.'),
    CUSTOM_LOGIN_BACKGROUND: item('color', 'Background', '`#rrggbb`; empty: the theme decides.'),
    CUSTOM_LOGIN_COLOR: item('color', 'Accent', '`#rrggbb` of buttons; empty: the theme decides.'),
  }),
  license: group('Licence', [], {
    LICENSE_KEY: item('licence', 'Key', 'The signed text; empty: Community, without limits.'),
  }),
  domain: group('Domain name', [], {
    SERVER_DOMAIN_NAME: item(
      'authority',
      'Domain name',
      'Name, name with port, or address people reach this server by. The only source of links in mails, and an origin that may call.',
    ),
  }),
  vendorA: group('Product', [], {
    VENDORA_CHECKIN_SECONDS: item('integer', 'Seconds between check-ins', 'Agents are told with their next check-in.', {
      default: '60',
      range: [5, 3_600],
    }),
    VENDORA_UNCOMMON_MAX_HOSTS: item('integer', 'Uncommon: hosts at most', 'A device on more hosts is not uncommon.', {
      default: '3',
      range: [1, 1_000],
    }),
    VENDORA_UNCOMMON_MAX_SHARE: item('share', 'Uncommon: share at most', 'Of all hosts, 0 to 1.', { default: '0.01' }),
    VENDORA_UNCOMMON_MIN_POPULATION: item(
      'integer',
      'Uncommon: hosts at least',
      'Below this nothing is called uncommon.',
      {
        default: '20',
        range: [1, 1_000_000],
      },
    ),
    VENDORA_COMMAND_EXPIRY_HOURS: item('integer', 'Hours of a command', 'Life of a command that no host takes.', {
      default: '168',
      range: [1, 8_760],
    }),
    VENDORA_GRANT_MAX_HOURS: item('integer', 'Hours of a grant', 'Longest life of a time-boxed approval.', {
      default: '168',
      range: [1, 8_760],
    }),
    VENDORA_NO_LAST_KEYBOARD_TAGS: item(
      'text',
      'Last keyboard: tags without the exception',
      'Tags, separated by commas. Armed hosts with one of these tags block the last keyboard like any other device.',
      { max: 500 },
    ),
    VENDORA_FAIL_CLOSED_TAGS: item(
      'text',
      'Fail closed: tags',
      'Tags, separated by commas. While the agent does not run, new devices stay blocked on armed hosts with one of these tags. To unblock them, run "portcullis-agent release" as root.',
      { max: 500 },
    ),
    VENDORA_CONTACT: item('text', 'Contact', 'Whom the user of a host should ask about a blocked device.', {
      max: 200,
    }),
    VENDORA_SILENT_HOURS: item(
      'integer',
      'Hours until a host counts as silent',
      'A host that was not heard of for longer makes a notice; 0: none does.',
      { default: '72', range: [0, 8_760] },
    ),
    VENDORA_RETENTION_DAYS_EVENTS: item('integer', 'Days of events', 'Older ones are removed; 0: they are kept.', {
      default: '0',
      range: [0, 36_500],
    }),
    VENDORA_TWO_PERSON_LIMIT: item(
      'integer',
      'Hosts without a second person',
      'Freeing or deleting more needs a second person; 0 switches that off.',
      { default: '100', range: [0, 1_000_000] },
    ),
  }),
  health: group('Health thresholds', [], {
    VENDORA_HEALTH_DATABASE_WARNING_MS: threshold('Database: slow', 'Milliseconds of a bare query.', 250, [5, 4_000]),
    VENDORA_HEALTH_DATABASE_ERROR_MS: threshold(
      'Database: too slow',
      'Milliseconds of a bare query.',
      2_000,
      [5, 4_000],
    ),
    VENDORA_HEALTH_DISK_WARNING_PERCENT: threshold(
      'Disk: fills up',
      'Free share of the data volume, in percent.',
      10,
      [0, 99],
    ),
    VENDORA_HEALTH_DISK_ERROR_PERCENT: threshold(
      'Disk: nearly full',
      'Free share of the data volume, in percent.',
      3,
      [0, 99],
    ),
    VENDORA_HEALTH_DISK_WARNING_GB: threshold(
      'Disk: gigabytes left',
      'Less is a warning, whatever the share; 0: only the share counts.',
      0,
      [0, 1_000_000],
    ),
    VENDORA_HEALTH_DISK_ERROR_GB: threshold(
      'Disk: gigabytes at least',
      'Less is an error, whatever the share; 0: only the share counts.',
      1,
      [0, 1_000_000],
    ),
    VENDORA_HEALTH_QUEUE_WARNING: threshold(
      'Event processing: waiting reports',
      'Reports that wait to be stored, of one process.',
      10_000,
      [1, 10_000_000],
    ),
    VENDORA_HEALTH_QUEUE_ERROR: threshold(
      'Event processing: too many',
      'Reports that wait to be stored, of one process.',
      40_000,
      [1, 10_000_000],
    ),
    VENDORA_HEALTH_FOLLOWER_WARNING: threshold(
      'Event processing: a follower is behind',
      'Events that notices, SIEM outputs or the asset stream have not looked at.',
      50_000,
      [1, 100_000_000],
    ),
    VENDORA_HEALTH_JOB_WAIT_SECONDS: threshold(
      'Job queue: seconds of waiting',
      'A job that is due and nobody takes for longer is a warning, ten times that an error.',
      60,
      [10, 86_400],
    ),
    VENDORA_HEALTH_JOBS_FAILED: threshold(
      'Job queue: failed jobs',
      'So many in a day are a warning; 0: they are not looked at.',
      1,
      [0, 1_000_000],
    ),
    VENDORA_HEALTH_CLOCK_WARNING_SECONDS: threshold(
      'Clock: apart',
      'Seconds between the clocks of server and database.',
      2,
      [1, 86_400],
    ),
    VENDORA_HEALTH_CLOCK_ERROR_SECONDS: threshold(
      'Clock: too far apart',
      'Seconds between the clocks of server and database.',
      30,
      [1, 86_400],
    ),
    VENDORA_HEALTH_HOST_CLOCK_SECONDS: threshold(
      'Clock: hosts',
      'Connected hosts whose clocks are further from that of the server are a warning.',
      300,
      [1, 86_400],
    ),
    VENDORA_HEALTH_SILENT_PERCENT: threshold(
      'Agent gateway: silent hosts',
      'A larger share of hosts that are not connected is a warning, in percent.',
      50,
      [1, 100],
    ),
    VENDORA_HEALTH_SILENT_MIN_HOSTS: threshold(
      'Agent gateway: hosts at least',
      'With fewer hosts their share says nothing.',
      10,
      [1, 1_000_000],
    ),
    VENDORA_HEALTH_WORKER_LATE_MINUTES: threshold(
      'Agentless worker: minutes late',
      'A computer that should have been polled so long ago is a warning.',
      5,
      [1, 10_080],
    ),
    VENDORA_HEALTH_LICENCE_DAYS: threshold('Licence: days left', 'So many or fewer are a warning.', 30, [0, 3_650]),
    VENDORA_HEALTH_BACKUP_WARNING_DAYS: threshold(
      'Backups: days',
      'Age of the newest backup that is a warning.',
      7,
      [1, 3_650],
    ),
    VENDORA_HEALTH_BACKUP_ERROR_DAYS: threshold(
      'Backups: days at most',
      'Age of the newest backup that is an error.',
      30,
      [1, 3_650],
    ),
    VENDORA_HEALTH_KNOWLEDGE_DAYS: threshold(
      'Knowledge: days',
      'Age of what is known of devices that is a warning.',
      365,
      [1, 36_500],
    ),
  }),
} as const satisfies Record<string, ConfigGroup>

export type ConfigGroupName = keyof typeof configGroups
/** Names of all items of a group. */
export type ConfigName<G extends ConfigGroupName> = keyof (typeof configGroups)[G]['items'] & string

/** What a read gives for a secret that is set, and what a write takes for "as it is". */
export const maskedSecret = '********'

/** The group of an item; undefined for a name that is none. */
export const groupOfItem = (name: string): ConfigGroupName | undefined =>
  (Object.keys(configGroups) as ConfigGroupName[]).find((key) => Object.hasOwn(configGroups[key].items, name))
