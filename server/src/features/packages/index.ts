import { join } from 'node:path'
import type { ApprovalsApi } from '#features/approvals/index.ts'
import type { Audit } from '#features/audit/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { createPackageCache } from './package-cache.ts'
import { type PackageRoutesDeps, registerPackageRoutes } from './packages.routes.ts'
import { createPackagesService, type PackagesService } from './packages.service.ts'
import { createPackagesStore } from './packages.store.ts'
import type { ReleaseKeySource } from './release-key.ts'

export type { PublishedBuild } from './packages.service.ts'
export { loadReleaseKey, type ReleaseKeySource } from './release-key.ts'
export type PackagesApi = Pick<PackagesService, 'discardExpired' | 'latestPackage' | 'refusalOf'>

interface Given extends Omit<PackageRoutesDeps, 'packages'> {
  db: Db
  audit: Audit
  approvals: Pick<ApprovalsApi, 'handle' | 'mayAlone' | 'require'>
  releaseKey: ReleaseKeySource | null
  hostsByReleaseKey(): Promise<readonly { releaseKey: string; hosts: number }[]>
  /** Folder of this server's own files; executables are kept below it. */
  dataDir: string
}

/** Published agent builds: signed by the release key, handed to agents by every replica. */
export const packagesFeature = (
  app: HttpApp,
  { db, audit, approvals, releaseKey, hostsByReleaseKey, dataDir, ...routes }: Given,
): PackagesApi => {
  const folder = join(dataDir, 'packages')
  const packages = createPackagesService({
    db,
    clock: routes.clock,
    store: createPackagesStore,
    cache: createPackageCache({ folder, chunk: createPackagesStore(db).chunk }),
    audit,
    approvals,
    releaseKey,
    hostsByReleaseKey,
    folder,
  })
  registerPackageRoutes(app, { packages, ...routes })
  return packages
}
