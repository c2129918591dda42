import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import { rotateKeys } from '#features/contract.ts'
import type { OperationsContext } from '../context.ts'
import { createSealing } from './sealing.service.ts'

/** Rotates the keys of secrets at rest. */
export const sealingFeature = (
  app: HttpApp,
  context: OperationsContext & { columns: readonly SealedColumn[] },
): void => {
  const sealing = createSealing(context)
  app.register(rotateKeys, ({ actor }) => sealing.rotate(actor))
}
