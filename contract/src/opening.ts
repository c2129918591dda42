import { Type } from 'typebox'

/** Why somebody makes a change that allows devices. */
export const reasonGiven = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Why. The audit trail keeps it, and a request for a second approver shows it.',
  }),
)

/** Hosts on which a change newly allows devices, as a preview or dry run counts them. */
export const newlyAllowed = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
