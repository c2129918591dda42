import { type ConfigGroupName, type ConfigName, configGroups } from '#features/contract.ts'
import { strings } from './strings.ts'

/** A page of the general configuration: one group of items at one address. */
export interface SettingPage {
  group: ConfigGroupName
  /** The purpose of the page. */
  intro: string
  /**
   * Prefix of the names of its items. The items of the product and the thresholds share one, so its history has both.
   */
  prefix: string
  /** Settings of the group that the page shows. Absent: all. */
  names?: readonly string[]
  /** Title, if it is not that of the group. */
  title?: string
  /** Shown above the fields while the item has this value. */
  idle?: { item: string; value: string; text: string }
  /** Items whose change is confirmed before it is saved, with its consequence. */
  asks?: { names: readonly string[]; consequence: string }
}

/** Settings of the product that belong to the policy. They have a page of their own. */
const policyNames = [
  'VENDORA_TWO_PERSON_LIMIT',
  'VENDORA_GRANT_MAX_HOURS',
  'VENDORA_COMMAND_EXPIRY_HOURS',
  'VENDORA_CONTACT',
  'VENDORA_NO_LAST_KEYBOARD_TAGS',
  'VENDORA_FAIL_CLOSED_TAGS',
  'VENDORA_WINDOWS_ENFORCEMENT',
] satisfies readonly ConfigName<'vendorA'>[]

/** The policy settings. Their address is `/policy/settings`. */
export const policyPage: SettingPage = {
  group: 'vendorA',
  prefix: 'VENDORA_',
  names: policyNames,
  title: strings.policyTitle,
  intro: strings.policyIntro,
  asks: { names: ['VENDORA_WINDOWS_ENFORCEMENT'], consequence: strings.windowsAsk },
}

/** The pages, by the last part of their address. */
export const settingPages: Readonly<Record<string, SettingPage>> = {
  mail: {
    group: 'smtp',
    prefix: 'SMTP_',
    intro: strings.mailIntro,
    idle: {
      item: 'SMTP_HOST',
      value: '',
      text: strings.mailIdle,
    },
    asks: {
      names: ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY'],
      consequence: strings.mailAsk,
    },
  },
  directory: {
    group: 'ldap',
    prefix: 'LDAP_',
    intro: strings.directoryIntro,
    idle: {
      item: 'LDAP_ENABLED',
      value: 'false',
      text: strings.directoryIdle,
    },
    asks: {
      names: ['LDAP_URL', 'LDAP_SECURITY'],
      consequence: strings.directoryAsk,
    },
  },
  identity: {
    group: 'oidc',
    prefix: 'OIDC_',
    intro: strings.identityIntro,
    idle: {
      item: 'OIDC_ENABLED',
      value: 'false',
      text: strings.identityIdle,
    },
    asks: {
      names: ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
      consequence: strings.identityAsk,
    },
  },
  ise: {
    group: 'ise',
    prefix: 'ISE_',
    intro: strings.iseIntro,
    idle: {
      item: 'ISE_ENABLED',
      value: 'false',
      text: strings.iseIdle,
    },
    asks: { names: ['ISE_URL'], consequence: strings.iseAsk },
  },
  counteract: {
    group: 'cact',
    prefix: 'CACT_',
    intro: strings.cactIntro,
    idle: {
      item: 'CACT_ENABLED',
      value: 'false',
      text: strings.cactIdle,
    },
    asks: {
      names: ['CACT_URL', 'CACT_DEX_ACCOUNT'],
      consequence: strings.cactAsk,
    },
  },
  security: {
    group: 'security',
    prefix: 'SECURITY_',
    intro: strings.securityIntro,
    asks: {
      names: [
        'SECURITY_FACTOR_ADMINISTRATORS',
        'SECURITY_FACTOR_MANAGERS',
        'SECURITY_FACTOR_USERS',
        'SECURITY_FACTOR_GRACE_DAYS',
      ],
      consequence: strings.securityAsk,
    },
  },
  login: {
    group: 'login',
    prefix: 'CUSTOM_LOGIN_',
    intro: strings.loginIntro,
  },
  domain: {
    group: 'domain',
    prefix: 'SERVER_DOMAIN_NAME',
    intro: strings.domainIntro,
    asks: {
      names: ['SERVER_DOMAIN_NAME'],
      consequence: strings.domainAsk,
    },
  },
  product: {
    group: 'vendorA',
    prefix: 'VENDORA_',
    names: Object.keys(configGroups.vendorA.items).filter((name) => !policyNames.some((one) => one === name)),
    intro: strings.productIntro,
  },
  backups: {
    group: 'backup',
    prefix: 'BACKUP_',
    intro: strings.backupsIntro,
    idle: { item: 'BACKUP_ENABLED', value: 'false', text: strings.backupsIdle },
    asks: { names: ['BACKUP_FOLDER', 'BACKUP_KEEP', 'BACKUP_PASSPHRASE'], consequence: strings.backupsAsk },
  },
  thresholds: {
    group: 'health',
    prefix: 'VENDORA_HEALTH_',
    intro: strings.thresholdsIntro,
  },
}
