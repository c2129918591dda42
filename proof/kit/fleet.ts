/** Loads a fleet into the database of a running server, as the benchmarks do. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FaultTest } from './fault-test.ts'
import type * as Designs from './loader/designs.ts'
import type * as Loader from './loader.ts'
import { root as ownRoot } from './root.ts'

/** Lets the server judge some fingerprints, then loads hosts with them, in the schema of the release in `root`. */
export const loadBeneath = async (test: FaultTest, agents: number, designs: number, root = ownRoot): Promise<void> => {
  // Releases up to 0.2 keep the loader in other folders.
  const folder = ['proof/kit', 'rig', 'bench'].find((folder) => existsSync(join(root, folder, 'loader.ts')))
  if (folder === undefined) throw new Error(`No loader in ${root}`)
  const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, folder, path)).href)
  const { loadFleet } = (await part('loader.ts')) as typeof Loader
  const { seedDesigns } = (await part('loader/designs.ts')) as typeof Designs
  const { url, call, signIn } = test.server()
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
    usbIdsFile: join(root, 'knowledge/usb.ids'),
  })
  await loadFleet(test.connection, { agents, peripheralsPerAgent: 12, nowMs: Date.now() })
}
