import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { ReportsContext } from '../context.ts'
import { registerExportRoutes } from './exports.routes.ts'
import { createFiles } from './files.service.ts'
import { createPrinter } from './pdf/printer.ts'

export { utcText } from './cell-text.ts'
export type { FilesApi } from './files.service.ts'

/** Wires the exports of lists. */
export const exportsFeature = (app: HttpApp, context: ReportsContext) => {
  const printer = createPrinter()
  const files = createFiles(context, printer)
  registerExportRoutes(app, files, context.clock)
  return {
    /** Makes the files of scheduled reports. */
    files,
    close: printer.close,
  }
}
