import type { ConfigGroupName } from '@portcullis/contract'

/** A page of the general configuration: one group of items under one address. */
export interface SettingPage {
  group: ConfigGroupName
  /** What the page is for, in a sentence. */
  intro: string
  /** Beginning of the names of its items. Those of the product begin as the thresholds do: its history has both. */
  prefix: string
  /** What is told above the fields while an item says that it is not in use. */
  idle?: { item: string; text: string; words: string }
  /** Items whose change is shown and confirmed before it is stored, with what it comes to. */
  asks?: { names: readonly string[]; consequence: string }
}

/** Pages by the last part of their address. */
export const settingPages: Readonly<Record<string, SettingPage>> = {
  mail: {
    group: 'smtp',
    prefix: 'SMTP_',
    intro: 'Links to set a password, and notices, go out by this server. Without one nothing is mailed.',
    idle: {
      item: 'SMTP_HOST',
      text: '',
      words: 'No mail is sent now. Enter server and sender, try them by the test below, and save.',
    },
    asks: {
      names: ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY'],
      consequence: 'All mail, and the password of the user, goes there from now on.',
    },
  },
  directory: {
    group: 'ldap',
    prefix: 'LDAP_',
    intro:
      'People sign in with the password of the directory; groups there say who is Administrator, Manager or User. Local accounts keep working, also while the directory is down.',
    idle: {
      item: 'LDAP_ENABLED',
      text: 'false',
      words:
        'Nothing is used before you turn it on: fill in the fields, save, try them by the test below, then turn it on. Keep a local Administrator for the day the directory is away.',
    },
    asks: {
      names: ['LDAP_URL', 'LDAP_SECURITY'],
      consequence: 'Whoever signs in by the directory sends his password there from now on.',
    },
  },
  identity: {
    group: 'oidc',
    prefix: 'OIDC_',
    intro: 'People sign in at your identity provider by OpenID Connect; a claim says which profile they get.',
    idle: {
      item: 'OIDC_ENABLED',
      text: 'false',
      words:
        'Nothing is used before you turn it on: fill in the fields, save, try them by the test below, then turn it on. Set the domain name first: the provider sends people back to it.',
    },
    asks: {
      names: ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
      consequence: 'Whoever answers there decides who signs in, and as what.',
    },
  },
  ise: {
    group: 'ise',
    prefix: 'ISE_',
    intro: 'Hosts are taken off the network, and put back, by an ANC policy of Cisco ISE.',
    idle: {
      item: 'ISE_ENABLED',
      text: 'false',
      words:
        'Nothing is used before you turn it on: fill in the fields, save, try them by the test below, then turn it on. The policy has to exist in ISE.',
    },
    asks: { names: ['ISE_URL'], consequence: 'Quarantines are asked for there, with its user and password.' },
  },
  counteract: {
    group: 'cact',
    prefix: 'CACT_',
    intro: 'Hosts get a property in Forescout CounterACT, where a policy of yours takes them off the network.',
    idle: {
      item: 'CACT_ENABLED',
      text: 'false',
      words:
        'Nothing is used before you turn it on: fill in the fields, save, try them by the test below, then turn it on. The property has to be defined in CounterACT.',
    },
    asks: {
      names: ['CACT_URL', 'CACT_DEX_ACCOUNT'],
      consequence: 'Quarantines are asked for there, with its users and passwords.',
    },
  },
  security: {
    group: 'security',
    prefix: 'SECURITY_',
    intro:
      'Choose who needs a second factor to sign in. We recommend requiring one for Administrators and Managers. These settings apply to local accounts; directories and identity providers have their own.',
    asks: {
      names: [
        'SECURITY_FACTOR_ADMINISTRATORS',
        'SECURITY_FACTOR_MANAGERS',
        'SECURITY_FACTOR_USERS',
        'SECURITY_FACTOR_GRACE_DAYS',
      ],
      consequence:
        'After the grace period, accounts without a second factor can sign in only to set one up. Where you switch a requirement off, the password alone is enough again.',
    },
  },
  login: {
    group: 'login',
    prefix: 'CUSTOM_LOGIN_',
    intro: 'What people see before they sign in. Anybody who reaches this server can read it.',
  },
  domain: {
    group: 'domain',
    prefix: 'SERVER_DOMAIN_NAME',
    intro:
      'The name people reach this server by: links in mails are built from it, and pages of that name may call it.',
    asks: {
      names: ['SERVER_DOMAIN_NAME'],
      consequence: 'Links in mails lead there from now on, and browsers may sign in under that name.',
    },
  },
  product: {
    group: 'vendorA',
    prefix: 'VENDORA_',
    intro: 'How often agents call, what is called uncommon, how long things live, and when two people are needed.',
  },
  thresholds: {
    group: 'health',
    prefix: 'VENDORA_HEALTH_',
    intro:
      'When a part of the product counts as degraded; the page of health shows how each is, and its events follow.',
  },
}
