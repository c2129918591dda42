import { deflateSync } from 'node:zlib'

/** Members of a document of pdfkit that its types leave out; the exact version pins them. */
interface DocumentInside {
  _root: { id: number; data: Record<string, unknown> & { Pages: { data: { Kids: Ref[]; Count: number } } } }
  _info: { id: number }
  _id: Uint8Array
  _offset: number
  _offsets: (number | null)[]
  _waiting: number
  _write(data: string | Uint8Array): void
  _finalize(): void
  _addInfo(): void
  ref(data?: Record<string, unknown>): Ref
}

/** A reference to an object. */
export interface Ref {
  id: number
  data: Record<string, unknown>
  end(content?: Uint8Array): void
}

/** Objects per stream of objects: few enough to read a page of a large file without unpacking all of them. */
const packedAtOnce = 500

const xmlEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const xml = (text: string): string => text.replace(/[&<>"]/g, (char) => xmlEscapes[char] as string)

/** Returns the metadata of a file as RDF. The library would not escape the title. */
const rdf = (info: Readonly<Record<string, string>>, at: Date): string => {
  const alternative = (name: string, text: string | undefined) =>
    text === undefined
      ? ''
      : `<dc:${name}><rdf:Alt><rdf:li xml:lang="x-default">${xml(text)}</rdf:li></rdf:Alt></dc:${name}>`
  return `<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
${alternative('title', info.Title)}${alternative('description', info.Subject)}<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>${at.toISOString().slice(0, 19)}Z</xmp:CreateDate><xmp:CreatorTool>${xml(info.Creator ?? '')}</xmp:CreatorTool><pdf:Producer>${xml(info.Producer ?? '')}</pdf:Producer>
</rdf:Description>`
}

/** Packs objects without streams of their own, which makes thousands of small ones a tenth of the size. */
const createPacker = (inside: DocumentInside) => {
  /** Stream and position of each packed object, by id. */
  const places = new Map<number, readonly [stream: number, index: number]>()
  let ids: number[] = []
  let bodies: string[] = []
  function flush(): void {
    if (ids.length === 0) return
    let offset = 0
    const head = ids.map((id, i) => {
      const entry = `${id} ${offset}`
      offset += (bodies[i] as string).length + 1
      return entry
    })
    const first = `${head.join(' ')}\n`
    const stream = inside.ref({ Type: 'ObjStm', N: ids.length, First: first.length, Filter: 'FlateDecode' })
    stream.end(deflateSync(Buffer.from(first + bodies.join('\n'), 'latin1'), { level: 1 }))
    ids.forEach((id, i) => {
      places.set(id, [stream.id, i])
    })
    ids = []
    bodies = []
  }
  return {
    places,
    flush,
    /** Adds an object. Its text is ASCII. */
    add: (id: number, body: string): void => {
      ids.push(id)
      bodies.push(body)
      if (ids.length === packedAtOnce) flush()
    },
  }
}

/** Writes the cross-reference as a stream, the only form that can refer to packed objects. */
const writeCrossReference = (
  inside: DocumentInside,
  places: ReadonlyMap<number, readonly [stream: number, index: number]>,
): void => {
  const start = inside._offset
  const id = inside._offsets.length + 1
  const entries = Buffer.alloc((id + 1) * 7)
  entries.writeUInt16BE(65_535, 5)
  const put = (object: number, kind: number, first: number, second: number): void => {
    entries.writeUInt8(kind, object * 7)
    entries.writeUInt32BE(first, object * 7 + 1)
    entries.writeUInt16BE(second, object * 7 + 5)
  }
  inside._offsets.forEach((offset, i) => {
    const place = places.get(i + 1)
    if (place !== undefined) put(i + 1, 2, place[0], place[1])
    else if (offset !== null) put(i + 1, 1, offset, 0)
  })
  put(id, 1, start, 0)
  const packed = deflateSync(entries)
  const fileId = `<${Buffer.from(inside._id).toString('hex')}>`
  inside._write(
    `${id} 0 obj\n<</Type/XRef/Size ${id + 1}/W[1 4 2]/Root ${inside._root.id} 0 R/Info ${inside._info.id} 0 R/ID[${fileId}${fileId}]/Filter/FlateDecode/Length ${packed.length}>>\nstream`,
  )
  inside._write(packed)
  inside._write(`\nendstream\nendobj\nstartxref\n${start}\n%%EOF`)
}

/** Writes objects of a document that the library would write more slowly or not at all. */
export const createObjects = (pdf: PDFKit.PDFDocument, info: Readonly<Record<string, string>>, at: Date) => {
  const inside = pdf as unknown as DocumentInside
  const packer = createPacker(inside)
  inside._addInfo = () => pdf.appendXML(rdf(info, at))
  inside._finalize = () => {
    writeCrossReference(inside, packer.places)
    pdf.push(null)
  }

  /** Returns an id for an object that `pack` writes. */
  const reserve = (): number => inside._offsets.push(null)

  return {
    reserve,
    pack: packer.add,
    flush: packer.flush,
    /** Entries of the document catalogue. */
    catalogue: inside._root.data,
    ref: (data: Record<string, unknown>): Ref => inside.ref(data),
    /** Returns a reference to an object that `pack` writes. */
    reference: (): Ref => {
      const ref = inside.ref({})
      inside._waiting--
      return ref
    },
    addPage: (page: Ref): void => {
      const pages = inside._root.data.Pages.data
      pages.Kids.push(page)
      pages.Count++
    },
    pagesId: (inside._root.data.Pages as unknown as Ref).id,
  }
}

export type Objects = ReturnType<typeof createObjects>
