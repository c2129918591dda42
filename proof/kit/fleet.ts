/** Loads a fleet into the database of a running server, as the benchmarks do. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FaultTest } from './fault-test.ts'
import type * as Designs from './loader/designs.ts'
import { seedDesigns as ownSeedDesigns } from './loader/designs.ts'
import type * as Loader from './loader.ts'
import { root as ownRoot } from './root.ts'
import type { ServerProcess } from './server.ts'

/** Lets a server evaluate the fingerprints of a few hosts. Returns the ids of these hosts. */
export const seedFingerprints = async (
  { url, ca, enrolmentToken }: Pick<ServerProcess, 'url' | 'ca' | 'enrolmentToken'>,
  count: number,
  root = ownRoot,
  seedDesigns = ownSeedDesigns,
): Promise<string[]> => {
  const token = await enrolmentToken(Math.ceil(count / 100))
  return seedDesigns({ url, ca, token, count, usbIdsFile: join(root, 'knowledge/usb.ids') })
}

/** Lets the server evaluate some fingerprints, then loads hosts with them, in the schema of the release in `root`. */
export const loadBeneath = async (test: FaultTest, agents: number, designs: number, root = ownRoot): Promise<void> => {
  // Releases up to 0.2 keep the loader in other folders.
  const folder = ['proof/kit', 'rig', 'bench'].find((folder) => existsSync(join(root, folder, 'loader.ts')))
  if (folder === undefined) throw new Error(`No loader in ${root}`)
  const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, folder, path)).href)
  const { loadFleet } = (await part('loader.ts')) as typeof Loader
  const { seedDesigns } = (await part('loader/designs.ts')) as typeof Designs
  await seedFingerprints(test.server(), designs, root, seedDesigns)
  await loadFleet(test.connection, { agents, peripheralsPerAgent: 12, nowMs: Date.now() })
}
