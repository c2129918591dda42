import { Type } from 'typebox'
import { testOperation } from './general-config.ts'
import { nullable } from './operation.ts'

const forTest = (max: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: max }), { description }))

export const testLdap = testOperation('testLdap', 'TestLDAP', 'ldap', 'Tries the directory', {
  LDAP_TEST_USER: forTest(254, 'Somebody to look up, with his groups; absent: nobody.'),
  LDAP_TEST_PASSWORD: forTest(1_024, 'His password, to sign him in with; used once, never stored.'),
})
