import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { BuildsContext } from './context.ts'
import { registerPackageRoutes } from './packages.routes.ts'
import { createPackagesService } from './packages.service.ts'
import type { ReleaseKeySource } from './release-key.ts'

export type { PublishedBuild } from './packages.service.ts'
export { loadReleaseKey, type ReleaseKeySource } from './release-key.ts'
export type BuildsApi = ReturnType<typeof buildsFeature>

/** Creates the published agent builds, which the release key signs and every replica serves. */
export const buildsFeature = (app: HttpApp, context: BuildsContext & { releaseKey: ReleaseKeySource | null }) => {
  const packages = createPackagesService(context, context.releaseKey)
  registerPackageRoutes(app, context, packages)
  return packages
}
