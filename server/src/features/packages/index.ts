import { join } from 'node:path'
import type { AuditApi } from '#features/audit/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import { createPackageCache } from './package-cache.ts'
import { type PackageRoutesDeps, registerPackageRoutes } from './packages.routes.ts'
import { createPackagesService, type PackagesService } from './packages.service.ts'
import { createPackagesStore } from './packages.store.ts'

export type { PublishedBuild } from './packages.service.ts'
export type PackagesApi = Pick<PackagesService, 'latestPackage' | 'releaseKey' | 'isPublished'>

interface Given extends Omit<PackageRoutesDeps, 'packages'> {
  db: Db
  keys: Pick<Keys, 'derive'>
  audit: Pick<AuditApi, 'write'>
  /** Folder of this server's own files; executables are kept below it. */
  dataDir: string
}

/** Published agent builds: signed by one release key, handed to agents by every replica. */
export const packagesFeature = (app: HttpApp, { db, keys, audit, dataDir, ...routes }: Given): PackagesApi => {
  const folder = join(dataDir, 'packages')
  const packages = createPackagesService({
    db,
    clock: routes.clock,
    store: createPackagesStore,
    cache: createPackageCache({ folder, chunk: createPackagesStore(db).chunk }),
    audit,
    sealKey: keys.derive('release-key'),
    folder,
  })
  registerPackageRoutes(app, { packages, ...routes })
  return packages
}
