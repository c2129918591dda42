import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { HealthStatusSchema } from '#features/health/contract/health.ts'
import { licenceBody } from '#features/settings/contract/general-config.ts'

/** The current licence and its use. */
export const LicenceDetails = closed({
  status: Type.Enum(['Community', 'Activated', 'Grace', 'Expired', 'Invalid'], {
    description:
      '`Community`: no licence, no limits. `Grace`: expired, but nothing changes yet. `Invalid`: the stored licence is not signed with a key that this server trusts.',
  }),
  accountId: Type.String(),
  accountName: Type.String(),
  agents: nullable(Type.Integer({ minimum: 1 }), {
    description: 'Number of hosts that the licence covers. `null`: any number.',
  }),
  used: Type.Integer({ minimum: 0, description: 'Number of hosts.' }),
  pending: Type.Integer({
    minimum: 0,
    description: 'Number of hosts that the licence does not cover. They keep working.',
  }),
  expires: nullable(Type.String({ format: 'date' }), {
    description: 'Last day of the licence (UTC). `null`: it does not expire.',
  }),
  daysLeft: nullable(Type.Integer(), { description: 'Days until the licence expires. Negative after that.' }),
  graceUntil: nullable(Type.String({ format: 'date' })),
  features: Type.Array(Type.String()),
  health: closed(
    { status: HealthStatusSchema, description: Type.String() },
    { description: 'The state of the licence as the part `licence` of the health page shows it.' },
  ),
  trustedKeys: Type.Integer({ minimum: 0, description: 'Number of issuer keys that this server trusts.' }),
})
export type LicenceDetails = Static<typeof LicenceDetails>

const base = '/prime/webui/generalconfig'

export const getLicence = operation({
  id: 'getLicence',
  method: 'GET',
  path: `${base}/license`,
  tag: 'GeneralConfig',
  summary: 'Returns the current licence',
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
    'A licence for another product, or one that is not signed by a trusted issuer, gets 422 and changes nothing. `null` or an empty string removes the licence. Hosts show the new state within seconds.',
  permission: 'config:write',
  body: licenceBody,
  bodyOptional: true,
  response: LicenceDetails,
  errors: ['licence_invalid'],
})
