import {
  addOrUpdateCact,
  addOrUpdateHealth,
  addOrUpdateIse,
  addOrUpdateLdap,
  addOrUpdateLogin,
  addOrUpdateOidc,
  addOrUpdateSecurity,
  addOrUpdateSmtp,
  addOrUpdateVendorA,
  type ConfigGroupName,
  setServerDomainName,
  testCact,
  testDomainName,
  testIse,
  testLdap,
  testOidc,
  testSmtp,
} from '@portcullis/contract'
import { strings } from './strings.ts'

/** How a group is changed. The licence has an answer of its own, and a page of its own. */
export const saveOperations: Readonly<Partial<Record<ConfigGroupName, typeof addOrUpdateSmtp>>> = {
  smtp: addOrUpdateSmtp,
  ldap: addOrUpdateLdap,
  oidc: addOrUpdateOidc,
  ise: addOrUpdateIse,
  cact: addOrUpdateCact,
  security: addOrUpdateSecurity as typeof addOrUpdateSmtp,
  login: addOrUpdateLogin,
  domain: setServerDomainName,
  vendorA: addOrUpdateVendorA,
  health: addOrUpdateHealth,
}

/** An entry that only a test takes. */
export interface TestField {
  name: string
  label: string
  description: string
  isSecret?: boolean
}

/** How a group is tried. */
export interface GroupTest {
  operation: typeof testSmtp
  /** What it does, and what it leaves alone. */
  what: string
  fields: readonly TestField[]
}

/** Tests of the groups that have one. */
export const groupTests: Readonly<Partial<Record<ConfigGroupName, GroupTest>>> = {
  smtp: {
    operation: testSmtp,
    what: strings.connectsSignsInAndSendsA,
    fields: [
      {
        name: 'SMTP_TEST_RECIPIENT',
        label: strings.recipientOfATestMail,
        description: strings.emptyNoMailIsSent,
      },
    ],
  },
  ldap: {
    operation: testLdap,
    what: strings.connectsBindsAndLooksAPerson,
    fields: [
      { name: 'LDAP_TEST_USER', label: strings.person, description: strings.lookedUpWithTheGroupsEmpty },
      {
        name: 'LDAP_TEST_PASSWORD',
        label: strings.passwordOfThePerson,
        description: strings.toSignInWithUsedOnce,
        isSecret: true,
      },
    ],
  },
  oidc: { operation: testOidc, what: strings.readsWhatTheProviderSaysOf, fields: [] },
  ise: { operation: testIse, what: strings.connectsSignsInAndLooksFor, fields: [] },
  cact: {
    operation: testCact,
    what: strings.connectsAndSignsInToBoth,
    fields: [],
  },
  domain: { operation: testDomainName, what: strings.looksTheNameUpAndCalls, fields: [] },
}
