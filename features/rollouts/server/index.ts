import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  cancelRollout,
  getRollout,
  haltRollout,
  listRolloutHosts,
  listRollouts,
  pauseRollout,
  planRollout,
  resumeRollout,
  revertRollout,
  startRollout,
} from '#features/contract.ts'
import type { RolloutsContext } from './context.ts'
import { createRolloutsService } from './rollouts.service.ts'

/** Creates rollouts: updates and arming in rings, with plans, automatic halts and reverts. */
export const rolloutsFeature = (app: HttpApp, context: RolloutsContext) => {
  const rollouts = createRolloutsService(context)
  app.register(listRollouts, () => rollouts.list())
  app.register(getRollout, ({ params }) => rollouts.one(params.id))
  app.register(listRolloutHosts, ({ params, query }) => rollouts.hosts(params.id, query))
  app.register(planRollout, ({ actor, body }) => rollouts.plan(actor, body))
  app.register(startRollout, ({ actor, body }) => rollouts.start(actor, body))
  app.register(pauseRollout, ({ actor, params }) => rollouts.control(actor, params.id, 'pause'))
  app.register(resumeRollout, ({ actor, params }) => rollouts.control(actor, params.id, 'resume'))
  app.register(haltRollout, ({ actor, params }) => rollouts.control(actor, params.id, 'halt'))
  app.register(revertRollout, ({ actor, params, body }) =>
    rollouts.control(actor, params.id, 'revert', body?.reason?.trim() ?? ''),
  )
  app.register(cancelRollout, ({ actor, params }) => rollouts.control(actor, params.id, 'cancel'))
  return rollouts
}
