import { inflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

/** A logo ready to draw. */
export interface Logo {
  /** Width, if it is one unit high. */
  width: number
  draw(x: number, y: number, scale: number): void
}

const maxSide = 2_000

/** Throws if a PNG unpacks to more than a picture of the largest size: pngjs has no limit for interlaced ones. */
const assertBounded = (png: Buffer): void => {
  const data: Buffer[] = []
  for (let at = 8; at + 12 <= png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  inflateSync(Buffer.concat(data), { maxOutputLength: 8 * maxSide * (maxSide + 8) })
}

/**
 * Returns a PNG with the same picture, or null if it is damaged. pdfkit decodes a picture asynchronously and without a
 * limit, and an error in it would end the thread.
 */
const soundPng = (uri: string): Buffer | null => {
  const bytes = Buffer.from(uri.replace(/^data:image\/png;base64,/, ''), 'base64')
  try {
    if (Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) > maxSide) return null
    assertBounded(bytes)
    return PNG.sync.write(PNG.sync.read(bytes, { checkCRC: false }))
  } catch {
    return null
  }
}

/** The last logo, which most files share. */
let known: { uri: string; png: Buffer | null } = { uri: '', png: null }

/** Returns the logo of a PNG data URI, or the product's if it is empty or damaged. */
export const createLogo = (pdf: PDFKit.PDFDocument, uri: string): Logo => {
  if (known.uri !== uri) known = { uri, png: soundPng(uri) }
  const { png } = known
  if (png !== null) {
    const width = png.readUInt32BE(16) / png.readUInt32BE(20)
    return { width, draw: (x, y, scale) => pdf.image(png, x, y, { width: width * scale, height: scale }) }
  }
  return {
    width: 1,
    // A raised gate, in a box of 32 units.
    draw: (x, y, scale) => {
      pdf
        .save()
        .translate(x, y)
        .scale(scale / 32)
        .roundedRect(0, 0, 32, 32, 7)
        .fill('#0b6b7d')
      pdf.path('M7 25V14a9 9 0 0 1 18 0v11M11.5 7.5V25M16 5v20M20.5 7.5V25M7 14.5h18M7 20h18')
      pdf.lineWidth(2).lineCap('round').stroke('#fff').restore()
    },
  }
}
