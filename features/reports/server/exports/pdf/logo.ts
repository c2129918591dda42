import { deflateSync } from 'node:zlib'
import type { Objects } from './objects.ts'
import { type Picture, readPng } from './png.ts'

/** A logo ready to draw. */
export interface Logo {
  /** Width, if it is one unit high. */
  width: number
  operators: string
  /** Name and id of the picture it uses. */
  picture: { name: string; id: number } | undefined
}

/** The mark of the product: a raised gate, in a box of 32 units. */
const mark = `0.03125 0 0 0.03125 0 0 cm 0.043 0.42 0.49 rg 1 1 1 RG 2 w 1 J
7 0 m 25 0 l 28.9 0 32 3.1 32 7 c 32 25 l 32 28.9 28.9 32 25 32 c 7 32 l 3.1 32 0 28.9 0 25 c 0 7 l 0 3.1 3.1 0 7 0 c f
7 25 m 7 14 l 7 9.03 11.03 5 16 5 c 20.97 5 25 9.03 25 14 c 25 25 l
11.5 7.5 m 11.5 25 l 16 5 m 16 25 l 20.5 7.5 m 20.5 25 l 7 14.5 m 25 14.5 l 7 20 m 25 20 l S`

const productLogo: Logo = { width: 1, operators: mark, picture: undefined }

/** The last logo, which most files share. */
let known: { uri: string; picture: Picture | null } = { uri: '', picture: null }

const pictureOf = (uri: string): Picture | null => {
  if (known.uri !== uri) {
    let picture: Picture | null = null
    try {
      picture = readPng(Buffer.from(uri.replace(/^data:image\/png;base64,/, ''), 'base64'))
    } catch {
      // A damaged picture must not prevent a report.
    }
    known = { uri, picture }
  }
  return known.picture
}

const streamOf = (objects: Objects, entries: Record<string, unknown>, { width, height }: Picture, bytes: Buffer) => {
  const ref = objects.ref({
    Type: 'XObject',
    Subtype: 'Image',
    Width: width,
    Height: height,
    BitsPerComponent: 8,
    Filter: 'FlateDecode',
    ...entries,
  })
  ref.end(deflateSync(bytes))
  return ref
}

/** Returns the logo of a PNG data URI, or the product's if it is empty or cannot be read. */
export const createLogo = (objects: Objects, uri: string): Logo => {
  const picture = uri === '' ? null : pictureOf(uri)
  if (picture === null) return productLogo
  const isOpaque = picture.alpha.every((alpha) => alpha === 255)
  const mask = isOpaque ? {} : { SMask: streamOf(objects, { ColorSpace: 'DeviceGray' }, picture, picture.alpha) }
  const { id } = streamOf(objects, { ColorSpace: 'DeviceRGB', ...mask }, picture, picture.rgb)
  const width = picture.width / picture.height
  // The page runs downwards, while pictures run upwards.
  return { width, operators: `${width} 0 0 -1 0 1 cm /Logo Do`, picture: { name: 'Logo', id } }
}
