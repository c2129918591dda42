import type { Readable } from 'node:stream'

/** JSON that is formed already, by the database or once for everybody (then its bytes); sent as it is. */
export class JsonText {
  readonly text: string | Buffer
  constructor(text: string | Buffer) {
    this.text = text
  }
}

/** JSON that is formed while it is sent: large pages. */
export class JsonStream {
  readonly stream: Readable
  constructor(stream: Readable) {
    this.stream = stream
  }
}

/** An attachment. */
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

/** An answer with headers of its own. */
export class WithHeaders<T> {
  readonly value: T
  readonly headers: Readonly<Record<string, string>>
  constructor(value: T, headers: Readonly<Record<string, string>>) {
    this.value = value
    this.headers = headers
  }
}

/** The handler wrote the answer itself (event streams). */
export const answered = Symbol('answered')

/** Name of an export file: `agents-2031-05-04T101112Z.csv`. */
export const exportFileName = (stem: string, now: number, extension: string): string =>
  `${stem}-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '')}Z.${extension}`

/** Content-Disposition by RFC 6266: an ASCII name for old clients beside the full one. */
export const contentDisposition = (fileName: string): string => {
  const ascii = fileName.replace(/[^\w.-]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(fileName)}`
}
