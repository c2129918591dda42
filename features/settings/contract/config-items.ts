/**
 * Defines the settings: meaning, allowed values and default of each. The server validates with these definitions, the
 * console builds its forms from them, and the reference is generated from them.
 */

import { type ConfigGroup, group, item } from './config-item.ts'
import { healthThresholds } from './health-thresholds.ts'

const ca = item(
  'certificates',
  'Certificate authority',
  'PEM certificates to trust instead of the certificates of the system. Empty: trust those of the system.',
)
const enabled = (what: string) => item('boolean', 'Enabled', `Enables ${what}.`)
const autoQuarantine = item(
  'boolean',
  'Automatic quarantine',
  'Quarantines a host automatically when a confirmed attack tool stays attached to it for 30 seconds. Addresses that the system does not see at the host wait for approval.',
)
const perTenMinutes = item(
  'integer',
  'Automatic quarantines in ten minutes',
  'Maximum number of addresses that are quarantined automatically within ten minutes. Further addresses, and hosts with more than four addresses, wait for approval, so that a mistake does not disconnect a site.',
  { default: '5', range: [0, 1_000] },
)
const excludeTags = item(
  'tags',
  'Excluded tags',
  'Tags, separated by commas. Hosts with one of these tags are never quarantined automatically.',
)
const neverAddresses = item(
  'text',
  'Excluded addresses',
  'MAC addresses, separated by commas, that are never quarantined, for example of routers, servers and controllers.',
  { max: 1_000 },
)
const quarantineHours = item(
  'integer',
  'Duration (hours)',
  'Hours after which a quarantine ends automatically. 0: it does not expire.',
  {
    default: '24',
    range: [0, 8_760],
  },
)

/** Groups of settings, by the names in their operations. */
export const configGroups = {
  smtp: group('Mail', ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY', 'SMTP_CA'], {
    SMTP_HOST: item('host', 'Server', 'Name or address of the SMTP server. Empty: no email is sent.'),
    SMTP_PORT: item('integer', 'Port', 'TCP port of the SMTP server.', { default: '587', range: [1, 65_535] }),
    SMTP_SECURITY: item(
      'choice',
      'Security',
      '`starttls`: requires STARTTLS. `tls`: uses TLS from the start. `none`: no encryption and no password.',
      { default: 'starttls', choices: ['none', 'starttls', 'tls'] },
    ),
    SMTP_USER: item('text', 'User', 'User name on the mail server. Empty: no sign-in.'),
    SMTP_PASSWORD: item('secret', 'Password', 'Password of the user.', { max: 1_024 }),
    SMTP_FROM: item('email', 'Sender', 'Sender address of emails.'),
    SMTP_CA: ca,
  }),
  ldap: group('Directory', ['LDAP_URL', 'LDAP_SECURITY', 'LDAP_CA'], {
    LDAP_ENABLED: enabled('sign-in with directory accounts'),
    LDAP_URL: item(
      'ldap',
      'Address',
      '`ldap://host[:port]` or `ldaps://host[:port]`. Up to three addresses, separated by spaces. The server tries them in order.',
      {
        max: 512,
      },
    ),
    LDAP_SECURITY: item(
      'choice',
      'Security',
      '`starttls` and `tls` verify the certificate. `none` sends passwords unencrypted and is allowed only for a directory on this machine.',
      { default: 'starttls', choices: ['none', 'starttls', 'tls'] },
    ),
    LDAP_CA: ca,
    LDAP_BIND_DN: item(
      'bindName',
      'Bind DN',
      'Account with which the server looks up users. A DN, or for Active Directory `name@domain` or `DOMAIN\\name`. Empty: anonymous bind.',
    ),
    LDAP_BIND_PASSWORD: item('secret', 'Bind password', 'Password of the bind account.', { max: 1_024 }),
    LDAP_BASE_DN: item('dn', 'Base DN', 'Subtree in which the server searches for users and groups.'),
    LDAP_USER_FILTER: item(
      'filter',
      'User filter',
      'LDAP filter (RFC 4515) for users. `{username}` is replaced with the escaped user name. Empty: the name attribute must equal the user name.',
    ),
    LDAP_USERNAME_ATTRIBUTE: item(
      'attribute',
      'Name attribute',
      'Attribute with the user name: `uid`, or `sAMAccountName` in Active Directory.',
      {
        default: 'uid',
      },
    ),
    LDAP_GROUP_ATTRIBUTE: item(
      'attribute',
      'Group attribute',
      '`memberOf`: the user entry lists its groups. `member` or `uniqueMember`: the group entry lists the DNs of its members. With these three, nested groups count, up to ten levels. In Active Directory, the primary group counts as well. `memberUid`: the group entry lists user names.',
      { default: 'memberOf' },
    ),
    LDAP_ADMINISTRATOR_GROUP: item('dn', 'Administrators', 'DN of the group whose members are Administrators.'),
    LDAP_MANAGER_GROUP: item('dn', 'Managers', 'DN of the group whose members are Managers.'),
    LDAP_USER_GROUP: item('dn', 'Users', 'DN of the group whose members are Users.'),
  }),
  oidc: group('Identity provider', ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CA'], {
    OIDC_ENABLED: enabled('sign-in with the identity provider'),
    OIDC_NAME: item('text', 'Button', 'Text of the button on the sign-in page.', {
      default: 'Single sign-on',
      max: 60,
    }),
    OIDC_ISSUER: item(
      'https',
      'Issuer',
      'Issuer URL of the provider. The server reads `/.well-known/openid-configuration` below it.',
    ),
    OIDC_CLIENT_ID: item('text', 'Client ID', 'Client ID from the provider.'),
    OIDC_CLIENT_SECRET: item('secret', 'Client secret', 'Client secret from the provider. Empty for a public client.', {
      max: 1_024,
    }),
    OIDC_CA: ca,
    OIDC_SCOPES: item('text', 'Scopes', 'Scopes, separated by spaces. `openid` is always requested.', {
      default: 'openid profile email',
    }),
    OIDC_USERNAME_CLAIM: item('attribute', 'Name claim', 'Claim with the user name.', {
      default: 'preferred_username',
    }),
    OIDC_GROUPS_CLAIM: item('attribute', 'Groups claim', 'Claim with the groups or roles.', { default: 'groups' }),
    OIDC_ADMINISTRATOR_GROUP: item(
      'text',
      'Administrators',
      'Value in the groups claim that grants the profile Administrator.',
    ),
    OIDC_MANAGER_GROUP: item('text', 'Managers', 'Value in the groups claim that grants the profile Manager.'),
    OIDC_USER_GROUP: item('text', 'Users', 'Value in the groups claim that grants the profile User.'),
  }),
  ise: group('Cisco ISE', ['ISE_URL', 'ISE_CA'], {
    ISE_ENABLED: enabled('Cisco ISE'),
    ISE_URL: item(
      'https',
      'Address',
      'Address of the primary administration node, with port, for example `https://ise.example.org:9060`.',
    ),
    ISE_USER: item('text', 'User', 'Internal administrator in the group ERS Admin.'),
    ISE_PASSWORD: item('secret', 'Password', 'Password of the user.', { max: 1_024 }),
    ISE_CA: ca,
    ISE_ANC_POLICY: item('text', 'ANC policy', 'Name of the ANC policy for quarantines. It must exist in ISE.', {
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
    CACT_URL: item('https', 'Address', 'Address of the Enterprise Manager.'),
    CACT_USER: item('text', 'Web API user', 'User of the Web API, which reads hosts.'),
    CACT_PASSWORD: item('secret', 'Web API password', 'Password of the Web API user.', { max: 1_024 }),
    CACT_DEX_ACCOUNT: item('text', 'DEX account', '`user@account` of Data Exchange (DEX), which sets the property.'),
    CACT_DEX_PASSWORD: item('secret', 'DEX password', 'Password of the DEX account.', { max: 1_024 }),
    CACT_CA: ca,
    CACT_PROPERTY: item(
      'attribute',
      'Property',
      'Host property that the server sets to `quarantine`. Define the property and a policy for it in CounterACT.',
      { default: 'portcullis_state' },
    ),
    CACT_TOKEN_STYLE: item(
      'choice',
      'Token',
      'How the server sends the Web API token. It depends on the version of CounterACT.',
      {
        default: 'bare',
        choices: ['bare', 'bearer'],
      },
    ),
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
      'Requires a second factor for local accounts with the profile Administrator. You need one yourself to enable this.',
    ),
    SECURITY_FACTOR_MANAGERS: item(
      'boolean',
      'Second factor for Managers',
      'Requires a second factor for local accounts with the profile Manager. You need one yourself to enable this.',
    ),
    SECURITY_FACTOR_USERS: item(
      'boolean',
      'Second factor for Users',
      'Requires a second factor for local accounts with the profile User. You need one yourself to enable this.',
    ),
    SECURITY_FACTOR_GRACE_DAYS: item(
      'integer',
      'Grace period in days',
      'Starts when a requirement is enabled. After the grace period, accounts without a second factor can sign in only to set one up.',
      { default: '14', range: [0, 90] },
    ),
  }),
  login: group('Sign-in page', [], {
    CUSTOM_LOGIN_TITLE: item('text', 'Title', 'Heading of the sign-in page.', { default: 'Portcullis', max: 80 }),
    CUSTOM_LOGIN_MESSAGE: item('lines', 'Message', 'Text under the heading.', { max: 1_000 }),
    CUSTOM_LOGIN_BANNER: item('lines', 'Banner', 'Text that users must accept before they sign in. Empty: none.'),
    CUSTOM_LOGIN_LOGO: item(
      'image',
      'Logo',
      'Shown on the sign-in page and in PDF files. PNG as a data URI, at most 256 KiB and 2,000 pixels per side.',
    ),
    CUSTOM_LOGIN_BACKGROUND: item(
      'color',
      'Background',
      'Background colour, `#rrggbb`. Empty: the colour of the theme.',
    ),
    CUSTOM_LOGIN_COLOR: item('color', 'Accent', 'Colour of buttons, `#rrggbb`. Empty: the colour of the theme.'),
  }),
  license: group('Licence', [], {
    LICENSE_KEY: item('licence', 'Key', 'Signed licence text. Empty: Community, without limits.'),
  }),
  domain: group('Domain name', [], {
    SERVER_DOMAIN_NAME: item(
      'authority',
      'Domain name',
      'Name, name with port, or address under which users open this server. Links in emails use it, and browsers may call the server from this origin.',
    ),
  }),
  vendorA: group('Product', [], {
    VENDORA_CHECKIN_SECONDS: item(
      'integer',
      'Check-in interval (seconds)',
      'Agents receive a new interval with their next check-in.',
      {
        section: 'Hosts',
        unit: 's',
        default: '60',
        range: [5, 3_600],
      },
    ),
    VENDORA_UNCOMMON_MAX_HOSTS: item('integer', 'Uncommon: maximum hosts', 'A device on more hosts is not uncommon.', {
      section: 'Uncommon devices',
      unit: 'hosts',
      default: '3',
      range: [1, 1_000],
    }),
    VENDORA_UNCOMMON_MAX_SHARE: item(
      'share',
      'Uncommon: maximum share',
      'A device on a larger share of all hosts is not uncommon. 0 to 1.',
      {
        section: 'Uncommon devices',
        default: '0.01',
      },
    ),
    VENDORA_UNCOMMON_MIN_POPULATION: item(
      'integer',
      'Uncommon: minimum hosts',
      'With fewer hosts in total, no device is uncommon.',
      {
        section: 'Uncommon devices',
        unit: 'hosts',
        default: '20',
        range: [1, 1_000_000],
      },
    ),
    VENDORA_COMMAND_EXPIRY_HOURS: item(
      'integer',
      'Command expiry (hours)',
      'Hours after which an undelivered command expires.',
      {
        section: 'Grants and commands',
        unit: 'hours',
        default: '168',
        range: [1, 8_760],
      },
    ),
    VENDORA_GRANT_MAX_HOURS: item('integer', 'Maximum grant (hours)', 'Maximum duration of a grant.', {
      section: 'Grants and commands',
      unit: 'hours',
      default: '168',
      range: [1, 8_760],
    }),
    VENDORA_NO_LAST_KEYBOARD_TAGS: item(
      'text',
      'Last keyboard: tags without exception',
      'Tags, separated by commas. Armed hosts with one of these tags block the last keyboard like any other device.',
      { section: 'Exceptions for hosts', max: 500 },
    ),
    VENDORA_FAIL_CLOSED_TAGS: item(
      'text',
      'Fail closed: tags',
      'Tags, separated by commas. While the agent is not running, new devices stay blocked on armed hosts with one of these tags. To unblock them, run "portcullis-agent release" as root.',
      { section: 'Exceptions for hosts', max: 500 },
    ),
    VENDORA_WINDOWS_ENFORCEMENT: item(
      'boolean',
      'Windows enforcement (preview)',
      'Allows arming Windows hosts, with the grade "before install". At most five hosts of each Windows build can be armed until a verification of this build is imported. Turning this off cancels pending orders to arm. Armed hosts stay armed.',
      { section: 'Windows', default: 'false' },
    ),
    VENDORA_CONTACT: item('text', 'Contact', 'Contact that users of hosts see when a device is blocked.', {
      section: 'Blocked devices',
      max: 200,
    }),
    VENDORA_SILENT_HOURS: item(
      'integer',
      'Disconnected host alert (hours)',
      'Hours without a check-in after which a host raises an alert. 0: no alerts.',
      { section: 'Hosts', unit: 'hours', default: '72', range: [0, 8_760] },
    ),
    VENDORA_RETENTION_DAYS_EVENTS: item(
      'integer',
      'Event retention (days)',
      'Older events are deleted. 0: events are kept forever.',
      {
        section: 'Events',
        unit: 'days',
        default: '0',
        range: [0, 36_500],
      },
    ),
    VENDORA_TWO_PERSON_LIMIT: item(
      'integer',
      'Hosts without a second approver',
      'Freeing, deleting or newly allowing devices on more hosts needs a second approver. 0: no second approver is required.',
      { section: 'Second approver', unit: 'hosts', default: '100', range: [0, 1_000_000] },
    ),
  }),
  backup: group('Backups', [], {
    BACKUP_ENABLED: enabled('scheduled backups'),
    BACKUP_FOLDER: item(
      'text',
      'Folder',
      'Absolute path of an existing folder on the machine of the server. Choose another disk than the one of the database. Several servers need a shared folder. Empty: `backups` in the data directory.',
      { max: 1_000, section: 'Schedule' },
    ),
    BACKUP_INTERVAL: item(
      'choice',
      'Interval',
      '`hourly`, `6h` and `12h`: every 1, 6 or 12 hours, counted from the time of day. `daily`: every day. `weekly`: every Sunday.',
      { default: 'daily', choices: ['hourly', '6h', '12h', 'daily', 'weekly'], section: 'Schedule' },
    ),
    BACKUP_TIME: item('text', 'Time of day', 'Hours and minutes, such as `02:15`.', {
      default: '02:15',
      max: 5,
      section: 'Schedule',
    }),
    BACKUP_TIME_ZONE: item('text', 'Time zone', 'IANA name, such as `Europe/Berlin`.', {
      default: 'UTC',
      max: 64,
      section: 'Schedule',
    }),
    BACKUP_KEEP: item(
      'integer',
      'Backups to keep',
      'Number of verified backups to keep. Manual backups are counted separately. After each backup, the server deletes older ones that it wrote and verified. It deletes no other file.',
      { default: '7', range: [1, 1_000], section: 'Content' },
    ),
    BACKUP_PASSPHRASE: item(
      'secret',
      'Passphrase',
      'Encrypts the backups (12 characters or more). Keep a copy elsewhere: without it, nobody can restore them. Empty: not encrypted.',
      { min: 12, isTrimmed: true, max: 1_024, section: 'Content' },
    ),
    BACKUP_VERIFY: item(
      'choice',
      'Verification',
      '`restore`: restores each backup into a temporary database and compares each table. Needs free space for a copy of the database. `read`: reads each backup again, and checks its encryption and the number of rows.',
      { default: 'restore', choices: ['restore', 'read'], section: 'Content' },
    ),
  }),
  health: healthThresholds,
} as const satisfies Record<string, ConfigGroup>

export type ConfigGroupName = keyof typeof configGroups
/** Names of all items of a group. */
export type ConfigName<G extends ConfigGroupName> = keyof (typeof configGroups)[G]['items'] & string

/** Value that masks a stored secret in responses, and that keeps the stored secret in requests. */
export const maskedSecret = '********'

/** Returns the group of a setting, or undefined for an unknown name. */
export const groupOfItem = (name: string): ConfigGroupName | undefined =>
  (Object.keys(configGroups) as ConfigGroupName[]).find((key) => Object.hasOwn(configGroups[key].items, name))

/** Returns the label of a setting, or its name if it is unknown. */
export const settingLabel = (name: string): string => {
  const group: ConfigGroup | undefined = configGroups[groupOfItem(name) as ConfigGroupName]
  return group?.items[name]?.label ?? name
}

/** Returns the label of a setting with the title of its page. */
export const placedSettingLabel = (name: string): string => {
  const group = groupOfItem(name)
  const label = settingLabel(name)
  return group === undefined || configGroups[group].title === label ? label : `${configGroups[group].title}: ${label}`
}
