import type { ConfigGroupName } from '@portcullis/contract'
import { strings } from './strings.ts'

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
    intro: strings.linksToSetAPasswordAnd,
    idle: {
      item: 'SMTP_HOST',
      text: '',
      words: strings.noMailIsSentNowEnter,
    },
    asks: {
      names: ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY'],
      consequence: strings.allMailAndThePasswordOf,
    },
  },
  directory: {
    group: 'ldap',
    prefix: 'LDAP_',
    intro: strings.peopleSignInWithThePassword,
    idle: {
      item: 'LDAP_ENABLED',
      text: 'false',
      words: strings.nothingIsUsedBeforeYouTurn,
    },
    asks: {
      names: ['LDAP_URL', 'LDAP_SECURITY'],
      consequence: strings.whoeverSignsInByTheDirectory,
    },
  },
  identity: {
    group: 'oidc',
    prefix: 'OIDC_',
    intro: strings.peopleSignInAtYourIdentity,
    idle: {
      item: 'OIDC_ENABLED',
      text: 'false',
      words: strings.nothingIsUsedBeforeYouTurn2,
    },
    asks: {
      names: ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
      consequence: strings.whoeverAnswersThereDecidesWhoSigns,
    },
  },
  ise: {
    group: 'ise',
    prefix: 'ISE_',
    intro: strings.hostsAreTakenOffTheNetwork,
    idle: {
      item: 'ISE_ENABLED',
      text: 'false',
      words: strings.nothingIsUsedBeforeYouTurn3,
    },
    asks: { names: ['ISE_URL'], consequence: strings.quarantinesAreAskedForThereWith },
  },
  counteract: {
    group: 'cact',
    prefix: 'CACT_',
    intro: strings.hostsGetAPropertyInForescout,
    idle: {
      item: 'CACT_ENABLED',
      text: 'false',
      words: strings.nothingIsUsedBeforeYouTurn4,
    },
    asks: {
      names: ['CACT_URL', 'CACT_DEX_ACCOUNT'],
      consequence: strings.quarantinesAreAskedForThereWith2,
    },
  },
  security: {
    group: 'security',
    prefix: 'SECURITY_',
    intro: strings.chooseWhoNeedsASecondFactor,
    asks: {
      names: [
        'SECURITY_FACTOR_ADMINISTRATORS',
        'SECURITY_FACTOR_MANAGERS',
        'SECURITY_FACTOR_USERS',
        'SECURITY_FACTOR_GRACE_DAYS',
      ],
      consequence: strings.afterTheGracePeriodAccountsWithout,
    },
  },
  login: {
    group: 'login',
    prefix: 'CUSTOM_LOGIN_',
    intro: strings.whatPeopleSeeBeforeTheySign,
  },
  domain: {
    group: 'domain',
    prefix: 'SERVER_DOMAIN_NAME',
    intro: strings.theNamePeopleReachThisServer,
    asks: {
      names: ['SERVER_DOMAIN_NAME'],
      consequence: strings.linksInMailsLeadThereFrom,
    },
  },
  product: {
    group: 'vendorA',
    prefix: 'VENDORA_',
    intro: strings.howOftenAgentsCallWhatIs,
  },
  thresholds: {
    group: 'health',
    prefix: 'VENDORA_HEALTH_',
    intro: strings.whenAPartOfTheProduct,
  },
}
