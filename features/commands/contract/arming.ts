import { maxRevertMinutes, pilotHosts, pilotRevertMinutes } from '@portcullis/contract/revert.ts'
import { Type } from 'typebox'

export const RevertMinutes = Type.Integer({
  minimum: 0,
  maximum: maxRevertMinutes,
  description: `When arming: minutes within which a newly armed host must reach the server. Otherwise it becomes Free again. 0: it stays armed. Absent: ${pilotRevertMinutes} during a pilot (at most ${pilotHosts} armed hosts, including those of this order), otherwise 0. Agents up to 0.2 always use 10.`,
})
