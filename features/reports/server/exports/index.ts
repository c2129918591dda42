import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { ListDeps } from '@portcullis/platform/server/list/list.ts'
import type { InsightsApi } from '#features/devices/server/insights/index.ts'
import { computedLists } from './computed-lists.ts'
import { exportLists } from './export-lists.ts'
import { createExportsRead } from './exports.read.ts'
import { registerExportRoutes } from './exports.routes.ts'
import { createFiles } from './files.service.ts'
import { createPrinter } from './pdf/printer.ts'

export { utcText } from './cell-text.ts'
export type { FilesApi } from './files.service.ts'

/** Dependencies of the exports besides the lists. */
export interface ExportsFeatureDeps {
  insights: InsightsApi
  /** Returns the logo of the organisation as a PNG data URI. Empty: the logo of the product. */
  logo(): string
}

/** Wires the exports; `exportDb` is the pool for long reads. */
export const exportsFeature = (app: HttpApp, { insights, logo, ...lists }: ListDeps & ExportsFeatureDeps) => {
  const printer = createPrinter()
  const read = createExportsRead(lists)
  const files = createFiles({
    clock: lists.clock,
    read,
    printer,
    lists: { ...exportLists, ...computedLists(insights, lists.clock) },
    listDeps: lists,
    logo,
  })
  registerExportRoutes(app, files, lists.clock)
  return {
    /** Makes the files of scheduled reports. */
    files,
    close: printer.close,
  }
}
