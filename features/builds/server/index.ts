import { join } from 'node:path'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { BuildsContext } from './context.ts'
import { createPackageCache } from './package-cache.ts'
import { registerPackageRoutes } from './packages.routes.ts'
import { createPackagesService, type PackagesService } from './packages.service.ts'
import { createPackagesStore } from './packages.store.ts'
import type { ReleaseKeySource } from './release-key.ts'

export type { PublishedBuild } from './packages.service.ts'
export { loadReleaseKey, type ReleaseKeySource } from './release-key.ts'
export type PackagesApi = Pick<PackagesService, 'discardExpired' | 'latestPackage' | 'refusalOf'>

/** Creates the published agent builds, which the release key signs and every replica serves. */
export const packagesFeature = (
  app: HttpApp,
  context: BuildsContext & { releaseKey: ReleaseKeySource | null },
): PackagesApi => {
  const { db, config } = context
  const folder = join(config.dataDir, 'packages')
  const packages = createPackagesService({
    ...context,
    cache: createPackageCache({ folder, chunk: createPackagesStore(db).chunk }),
    folder,
  })
  registerPackageRoutes(app, context, packages)
  return packages
}
