import { type Static, Type } from 'typebox'
import { closed, utcTime, WorksAgain } from './operation.ts'

/** Days that a prediction looks back over unless a caller asks for others. */
export const predictedDays = 30

const counts = (description: string) =>
  closed(
    {
      agents: Type.Integer({ minimum: 0, description: 'Hosts of these devices.' }),
      peripherals: Type.Integer({ minimum: 0, description: 'Number of devices.' }),
      attackTools: Type.Integer({ minimum: 0, description: 'How many of them are known attack tools.' }),
    },
    { description },
  )

/**
 * What a change would do, and which hosts, devices and times the server looked at to say so. Every preview states it in
 * the same form, from the same function.
 */
export const Prediction = closed({
  computedAt: utcTime('Time of the data: rules, hosts and devices are as they were then.'),
  from: utcTime('Start of the period. A device that is not attached counts if it was seen since.'),
  to: utcTime('End of the period.'),
  agents: Type.Integer({
    minimum: 0,
    description: 'Hosts examined: those whose agent can block devices and that have a device of the period.',
  }),
  peripherals: Type.Integer({
    minimum: 0,
    description: 'Devices examined on these hosts: attached, or seen in the period.',
  }),
  newlyAllowed: counts('Devices whose decision changes from block to allow, on armed hosts and others.'),
  newlyBlocked: counts('Devices whose decision changes from allow to block, on armed hosts and others.'),
  worksAgain: closed(WorksAgain.properties, { description: 'Attached devices that are blocked now and work again.' }),
  stopsWorking: counts('Attached devices that work now and are blocked at once.'),
})
export type Prediction = Static<typeof Prediction>
