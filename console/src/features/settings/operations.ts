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
    what: 'Connects, signs in, and sends a mail when you name a recipient. Nothing is stored.',
    fields: [
      {
        name: 'SMTP_TEST_RECIPIENT',
        label: 'Recipient of a test mail',
        description: 'Empty: no mail is sent.',
      },
    ],
  },
  ldap: {
    operation: testLdap,
    what: 'Connects, binds and looks a person up. Nothing is stored.',
    fields: [
      { name: 'LDAP_TEST_USER', label: 'Person', description: 'Looked up with the groups; empty: nobody.' },
      {
        name: 'LDAP_TEST_PASSWORD',
        label: 'Password of the person',
        description: 'To sign in with; used once, never stored.',
        isSecret: true,
      },
    ],
  },
  oidc: { operation: testOidc, what: 'Reads what the provider says of itself. Nobody is signed in.', fields: [] },
  ise: { operation: testIse, what: 'Connects, signs in and looks for the policy. Changes nothing there.', fields: [] },
  cact: {
    operation: testCact,
    what: 'Connects and signs in to both interfaces. Changes nothing there.',
    fields: [],
  },
  domain: { operation: testDomainName, what: 'Looks the name up and calls this server by it.', fields: [] },
}
