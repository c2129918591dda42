import { type Static, Type } from 'typebox'
import { licenceBody } from './general-config.ts'
import { closed, nullable, operation } from './operation.ts'

/** The licence in force, and what it comes to. */
export const LicenceDetails = closed({
  status: Type.Enum(['Community', 'Activated', 'Grace', 'Expired', 'Invalid'], {
    description:
      '`Community`: no licence, nothing is limited. `Grace`: over, but nothing changes yet. `Invalid`: stored, and not signed by a key this server trusts now.',
  }),
  accountId: Type.String(),
  accountName: Type.String(),
  agents: nullable(Type.Integer({ minimum: 1 }), { description: 'Hosts that are covered; null: any number.' }),
  used: Type.Integer({ minimum: 0, description: 'Hosts that are known.' }),
  pending: Type.Integer({ minimum: 0, description: 'Hosts beyond what is covered. Nothing stops working for them.' }),
  expires: nullable(Type.String({ format: 'date' }), { description: 'Last day (UTC); null: it does not end.' }),
  daysLeft: nullable(Type.Integer(), { description: 'Days until then; below 0 after it.' }),
  graceUntil: nullable(Type.String({ format: 'date' })),
  features: Type.Array(Type.String()),
  trustedKeys: Type.Integer({ minimum: 0, description: 'Keys of issuers that this server trusts.' }),
})
export type LicenceDetails = Static<typeof LicenceDetails>

const base = '/prime/webui/generalconfig'

export const getLicence = operation({
  id: 'getLicence',
  method: 'GET',
  path: `${base}/license`,
  tag: 'GeneralConfig',
  summary: 'Says which licence is in force, and how many hosts it covers',
  permission: 'config:read',
  response: LicenceDetails,
})

export const addOrUpdateLicense = operation({
  id: 'addOrUpdateLicense',
  method: 'POST',
  path: `${base}/AddOrUpdateLICENSEConfig`,
  tag: 'GeneralConfig',
  summary: 'Changes the licence',
  description:
    'A key that is not signed by an issuer this server trusts, or is for another product, is 422 and nothing changes. null or an empty text: Community. Hosts follow within seconds.',
  permission: 'config:write',
  body: licenceBody,
  bodyOptional: true,
  response: LicenceDetails,
  errors: ['licence_invalid'],
})
