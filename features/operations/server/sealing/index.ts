import { rotateKeys } from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createSealing, type SealingDeps } from './sealing.service.ts'
import { createSealingStore } from './sealing.store.ts'

/** Rotates the keys of secrets at rest. */
export const sealingFeature = (app: HttpApp, deps: Omit<SealingDeps, 'store'>): void => {
  const sealing = createSealing({ ...deps, store: createSealingStore() })
  app.register(rotateKeys, ({ actor }) => sealing.rotate(actor))
}
