/** A fleet beneath a running server, loaded as the benchmarks load theirs. */
import { seedDesigns } from '../bench/loader/designs.ts'
import { loadFleet } from '../bench/loader.ts'
import { fromRoot } from './root.ts'
import type { Trial } from './trial.ts'

/** Lets the server judge some designs, then copies hosts that carry them into its database. */
export const loadBeneath = async (trial: Trial, agents: number, designs: number): Promise<void> => {
  const { url, call, signIn } = trial.server()
  const token = await signIn()
  const { token: enrolment } = await call(
    '/prime/webui/agents/enrollmenttokens',
    { name: 'designs', maxUses: Math.ceil(designs / 100) },
    token,
  )
  await seedDesigns({
    url,
    ca: undefined,
    token: String(enrolment),
    count: designs,
    usbIdsFile: fromRoot('knowledge/usb.ids'),
  })
  await loadFleet(trial.connection, { agents, peripheralsPerAgent: 12, nowMs: Date.now() })
}
