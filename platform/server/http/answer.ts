import type { Readable } from 'node:stream'

/** Finished JSON from the database, or shared bytes; sent as it is. */
export class JsonText {
  readonly text: string | Buffer
  constructor(text: string | Buffer) {
    this.text = text
  }
}

/** JSON that is built while it is sent, for large pages. */
export class JsonStream {
  readonly stream: Readable
  constructor(stream: Readable) {
    this.stream = stream
  }
}

/** A response with an attachment. */
export class FileAnswer {
  readonly fileName: string
  readonly mediaType: string
  readonly content: Readable | Buffer | string
  constructor(fileName: string, mediaType: string, content: Readable | Buffer | string) {
    this.fileName = fileName
    this.mediaType = mediaType
    this.content = content
  }
}

/** A response with additional headers. */
export class WithHeaders<T> {
  readonly value: T
  readonly headers: Readonly<Record<string, string>>
  constructor(value: T, headers: Readonly<Record<string, string>>) {
    this.value = value
    this.headers = headers
  }
}

/** Marks that the handler wrote the response itself (event streams). */
export const answered = Symbol('answered')

/** Returns the name of an export file, such as `agents-2031-05-04T101112Z.csv`. */
export const exportFileName = (stem: string, now: number, extension: string): string =>
  `${stem}-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '')}Z.${extension}`

/** Builds Content-Disposition by RFC 6266: an ASCII name for old clients, and the full one. */
export const contentDisposition = (fileName: string): string => {
  const ascii = fileName.replace(/[^\w.-]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(fileName)}`
}
