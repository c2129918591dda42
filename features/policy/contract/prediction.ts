import { closed, utcTime, WorksAgain } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Default period of a prediction, in past days. */
export const predictedDays = 30

const counts = (description: string) =>
  closed(
    {
      agents: Type.Integer({ minimum: 0, description: 'Number of hosts with these devices.' }),
      peripherals: Type.Integer({ minimum: 0, description: 'Number of devices.' }),
      attackTools: Type.Integer({ minimum: 0, description: 'Number of these devices that are known attack tools.' }),
    },
    { description },
  )

const subject = (description: string) =>
  closed(
    {
      agents: Type.Integer({ minimum: 0, description: 'Number of hosts with these devices.' }),
      peripherals: Type.Integer({ minimum: 0, description: 'Number of devices.' }),
      attachments: Type.Integer({ minimum: 0, description: 'Number of times they were attached in the period.' }),
    },
    { description },
  )

const number = (description: string) =>
  closed(
    {
      agents: Type.Integer({ minimum: 0, description: 'Number of their hosts.' }),
      peripherals: Type.Integer({ minimum: 0, description: 'Number of devices.' }),
    },
    { description },
  )

/** When decisions take effect. Each device counts once. */
export const TakesEffect = closed({
  now: number('Devices on armed hosts. The decision takes effect at once.'),
  whenArmed: number('Devices on Free hosts that can block. The decision takes effect when the host is armed.'),
  never: number('Devices on hosts that cannot block. The decision has no effect there.'),
})
export type TakesEffect = Static<typeof TakesEffect>

/**
 * The predicted effect of a change, with the hosts, devices and period that the server examined. All previews use the
 * same shape and the same function.
 */
export const Prediction = closed({
  computedAt: utcTime('Time of the rules, hosts and devices that the prediction uses.'),
  from: utcTime('Start of the period.'),
  to: utcTime('End of the period.'),
  agents: Type.Integer({
    minimum: 0,
    description: 'Number of examined hosts: those with an examined device.',
  }),
  peripherals: Type.Integer({
    minimum: 0,
    description: 'Number of examined devices on these hosts.',
  }),
  isEveryDevice: Type.Boolean({
    description:
      'True: all known devices of all hosts were examined, because decisions hold for all of them. False, for arming, freeing and simulations: devices that are attached or were seen in the period, on hosts that can block.',
  }),
  attachments: Type.Integer({
    minimum: 0,
    description: 'Number of times that the examined devices were attached in the period.',
  }),
  blocked: subject(
    'Devices that an armed host blocks after the change when they are attached again. This is the result of the simulator.',
  ),
  changed: subject('Devices whose decision changes.'),
  takesEffect: TakesEffect,
  newlyAllowed: counts('Devices whose decision changes from block to allow, on all hosts, armed or not.'),
  newlyBlocked: counts('Devices whose decision changes from allow to block, on all hosts, armed or not.'),
  worksAgain: closed(WorksAgain.properties, {
    description: 'Attached devices that are blocked now and work again after the change.',
  }),
  stopsWorking: counts('Attached devices that work now and are blocked by the change.'),
})
export type Prediction = Static<typeof Prediction>
