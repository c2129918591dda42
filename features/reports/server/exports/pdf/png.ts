import { inflateSync } from 'node:zlib'

/** A picture of at most a few hundred pixels per side: three bytes per pixel, and its opacity. */
export interface Picture {
  width: number
  height: number
  rgb: Buffer
  alpha: Buffer
}

const maxSide = 2_000
/** A larger picture is made smaller: it is printed three centimetres wide. */
const shownSide = 480

interface Header {
  width: number
  height: number
  depth: number
  /** Numbers per pixel. */
  channels: number
  color: number
  isInterlaced: boolean
}

const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

const headerOf = (chunk: Buffer): Header => {
  const [width, height] = [chunk.readUInt32BE(0), chunk.readUInt32BE(4)]
  const [depth, color] = [chunk.readUInt8(8), chunk.readUInt8(9)]
  const channels = channelsOf[color]
  if (channels === undefined || ![1, 2, 4, 8, 16].includes(depth)) throw new Error('unknown kind of PNG')
  if (width < 1 || height < 1 || width > maxSide || height > maxSide) throw new Error('the picture is too large')
  return { width, height, depth, channels, color, isInterlaced: chunk.readUInt8(12) !== 0 }
}

/** Passes of an interlaced picture: first column and row, and the distance to the next ones. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

const paeth = (left: number, up: number, corner: number): number => {
  const [byLeft, byUp, byCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}

/** Reverses the filter of a line in place. */
const unfilter = (kind: number, line: Buffer, before: Buffer | undefined, step: number): void => {
  if (kind > 4) throw new Error('unknown filter in a PNG')
  for (let i = 0; i < line.length; i++) {
    const left = i >= step ? (line[i - step] as number) : 0
    const up = before?.[i] ?? 0
    const corner = i >= step ? (before?.[i - step] ?? 0) : 0
    const guess = [0, left, up, (left + up) >> 1, kind === 4 ? paeth(left, up, corner) : 0][kind] as number
    line[i] = ((line[i] as number) + guess) & 255
  }
}

/** Reads the pixels of a PNG. Throws if it is damaged. */
export const readPng = (file: Buffer): Picture => {
  let header: Header | undefined
  let palette: Buffer = Buffer.alloc(0)
  let clear: Buffer | undefined
  const data: Buffer[] = []
  for (let at = 8; at + 12 <= file.length; ) {
    const size = file.readUInt32BE(at)
    const kind = file.toString('latin1', at + 4, at + 8)
    const chunk = file.subarray(at + 8, at + 8 + size)
    if (kind === 'IHDR') header = headerOf(chunk)
    if (kind === 'PLTE') palette = chunk
    if (kind === 'tRNS') clear = chunk
    if (kind === 'IDAT') data.push(chunk)
    if (kind === 'IEND') break
    at += size + 12
  }
  if (header === undefined) throw new Error('not a PNG')
  const { width, height, depth, channels, color, isInterlaced } = header
  const bits = depth * channels
  const step = Math.max(1, bits >> 3)
  const parts = isInterlaced ? passes : ([[0, 0, 1, 1]] as const)
  const sized = parts.map(([x, y, dx, dy]) => {
    const [columns, lines] = [Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)]
    return {
      x,
      y,
      dx,
      dy,
      columns,
      lines: columns > 0 ? Math.max(0, lines) : 0,
      bytes: Math.ceil((columns * bits) / 8),
    }
  })
  const expected = sized.reduce((sum, { lines, bytes }) => sum + lines * (bytes + 1), 0)
  // A small file can unpack to gigabytes.
  const raw = inflateSync(Buffer.concat(data), { maxOutputLength: expected + 1 })
  if (raw.length < expected) throw new Error('the picture is incomplete')
  const picture = { width, height, rgb: Buffer.alloc(width * height * 3), alpha: Buffer.alloc(width * height, 255) }

  /** Returns a number of a line, 0 to 255, or an index of the palette. */
  const sample = (line: Buffer, n: number): number => {
    if (depth === 8) return line[n] as number
    if (depth === 16) return line[2 * n] as number
    const value = ((line[(n * depth) >> 3] as number) >> (8 - depth - ((n * depth) & 7))) & ((1 << depth) - 1)
    return color === 3 ? value : Math.round((value * 255) / ((1 << depth) - 1))
  }
  function setPixel(line: Buffer, column: number, pixel: number): void {
    const first = sample(line, column * channels)
    if (color === 3) {
      for (let i = 0; i < 3; i++) picture.rgb[pixel * 3 + i] = palette[first * 3 + i] ?? 0
      picture.alpha[pixel] = clear?.[first] ?? 255
      return
    }
    const isGray = channels < 3
    for (let i = 0; i < 3; i++) picture.rgb[pixel * 3 + i] = isGray ? first : sample(line, column * channels + i)
    if (channels % 2 === 0) picture.alpha[pixel] = sample(line, column * channels + channels - 1)
  }

  let at = 0
  for (const { x, y, dx, dy, columns, lines, bytes } of sized) {
    let before: Buffer | undefined
    for (let n = 0; n < lines; n++) {
      const line = raw.subarray(at + 1, at + 1 + bytes)
      unfilter(raw[at] as number, line, before, step)
      for (let column = 0; column < columns; column++) setPixel(line, column, (y + n * dy) * width + x + column * dx)
      before = line
      at += bytes + 1
    }
  }
  return smaller(picture)
}

/** Returns a picture that is small enough, by averaging. */
const smaller = (picture: Picture): Picture => {
  const by = Math.ceil(Math.max(picture.width, picture.height) / shownSide)
  if (by <= 1) return picture
  const [width, height] = [Math.ceil(picture.width / by), Math.ceil(picture.height / by)]
  const made = { width, height, rgb: Buffer.alloc(width * height * 3), alpha: Buffer.alloc(width * height) }
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const sums = [0, 0, 0]
      let [opacity, count] = [0, 0]
      for (let v = y * by; v < Math.min((y + 1) * by, picture.height); v++)
        for (let u = x * by; u < Math.min((x + 1) * by, picture.width); u++) {
          const from = v * picture.width + u
          const alpha = picture.alpha[from] as number
          for (let i = 0; i < 3; i++) sums[i] = (sums[i] as number) + (picture.rgb[from * 3 + i] as number) * alpha
          opacity += alpha
          count++
        }
      const to = y * width + x
      for (let i = 0; i < 3; i++) made.rgb[to * 3 + i] = opacity === 0 ? 255 : Math.round((sums[i] as number) / opacity)
      made.alpha[to] = Math.round(opacity / count)
    }
  return made
}
