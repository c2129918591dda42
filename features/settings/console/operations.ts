import {
  addOrUpdateBackup,
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
} from '#features/contract.ts'
import { strings } from './strings.ts'

/** Operations that save a group. The licence has its own page. */
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
  backup: addOrUpdateBackup as typeof addOrUpdateSmtp,
}

/** A field that only the test uses. */
export interface TestField {
  name: string
  label: string
  description: string
  isSecret?: boolean
}

/** The test of a group. */
export interface GroupTest {
  operation: typeof testSmtp
  /** Effects and side effects of the test. */
  text: string
  fields: readonly TestField[]
}

/** The tests, by group. */
export const groupTests: Readonly<Partial<Record<ConfigGroupName, GroupTest>>> = {
  smtp: {
    operation: testSmtp,
    text: strings.testMail,
    fields: [
      {
        name: 'SMTP_TEST_RECIPIENT',
        label: strings.testRecipient,
        description: strings.testRecipientHelp,
      },
    ],
  },
  ldap: {
    operation: testLdap,
    text: strings.testDirectory,
    fields: [
      { name: 'LDAP_TEST_USER', label: strings.person, description: strings.testUserHelp },
      {
        name: 'LDAP_TEST_PASSWORD',
        label: strings.testPassword,
        description: strings.testPasswordHelp,
        isSecret: true,
      },
    ],
  },
  oidc: { operation: testOidc, text: strings.testIdentity, fields: [] },
  ise: { operation: testIse, text: strings.testIse, fields: [] },
  cact: {
    operation: testCact,
    text: strings.testCact,
    fields: [],
  },
  domain: { operation: testDomainName, text: strings.testDomain, fields: [] },
}
