import { AppError } from '../app-error.ts'

/** Expected body of an operation, for the text of its 415. */
export const bodyForms = {
  json: 'a JSON body as application/json in UTF-8',
  plain: 'the body uncompressed, without the header Content-Encoding',
  upload: 'the file as multipart/form-data, in one part named file',
  gzip: 'the body as application/gzip',
  lines:
    'JSON or XML lines in UTF-8, as application/x-ndjson, application/json, application/xml or text/plain, uncompressed or with Content-Encoding gzip',
} as const

export const unsupportedMediaType = (expected: keyof typeof bodyForms): AppError =>
  new AppError('unsupported_media_type', { expected: bodyForms[expected] })
