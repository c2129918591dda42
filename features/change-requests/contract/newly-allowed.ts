import { Type } from 'typebox'

/** The reason for a change that allows devices. */
export const reasonGiven = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Reason for the change. It is recorded in the audit trail and shown to the second approver.',
  }),
)

/** The number of hosts on which a change newly allows devices, as a preview or dry run counts them. */
export const newlyAllowed = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
