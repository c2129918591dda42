import { join } from 'node:path'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import { createPackageCache } from './package-cache.ts'
import { registerPackageRoutes } from './packages.routes.ts'
import { createPackagesService, type PackagesService } from './packages.service.ts'
import { createPackagesStore } from './packages.store.ts'
import type { ReleaseKeySource } from './release-key.ts'

export type { PublishedBuild } from './packages.service.ts'
export { loadReleaseKey, type ReleaseKeySource } from './release-key.ts'
export type PackagesApi = Pick<PackagesService, 'discardExpired' | 'latestPackage' | 'refusalOf'>

interface Given {
  db: Db
  clock: Clock
  audit: Audit
  changeRequests: Pick<ChangeRequestsApi, 'handle' | 'mayAlone' | 'require'>
  releaseKey: ReleaseKeySource | null
  agents: Pick<AgentsApi, 'verifySession' | 'isRevoked' | 'hostsByReleaseKey'>
  /** Folder of this server's own files, where executables are stored. */
  dataDir: string
}

/** Creates the published agent builds, which the release key signs and every replica serves. */
export const packagesFeature = (
  app: HttpApp,
  { db, audit, changeRequests, releaseKey, agents, dataDir, clock }: Given,
): PackagesApi => {
  const folder = join(dataDir, 'packages')
  const packages = createPackagesService({
    db,
    clock,
    store: createPackagesStore,
    cache: createPackageCache({ folder, chunk: createPackagesStore(db).chunk }),
    audit,
    changeRequests,
    releaseKey,
    hostsByReleaseKey: agents.hostsByReleaseKey,
    folder,
  })
  registerPackageRoutes(app, { packages, clock, verifySession: agents.verifySession, isRevoked: agents.isRevoked })
  return packages
}
