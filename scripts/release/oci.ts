/** Writes a container image as an archive of an OCI image layout, without a container engine. */
import { createHash, type Hash } from 'node:crypto'
import { createWriteStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { startTar, tarOptions } from './archive.ts'

export interface Layer {
  /** What the layer contains, for the history of the image. */
  title: string
  /** Folder whose contents become the root of the container. */
  root: string
  /** Paths below `root`. */
  paths: readonly string[]
  /** Paths that are left out, although a path above includes them. */
  exclude?: readonly string[]
  /** User and group of all files. The default is root. */
  owner?: number
  /** Permissions of all files, as for chmod. */
  mode?: string
}

export interface ImageOptions {
  /** Name and tag, such as `portcullis:1.0.0`. */
  reference: string
  architecture: string
  layers: readonly Layer[]
  /** `config` of the OCI image specification. */
  config: Record<string, unknown>
  /** Time of the image and of all files, in seconds since 1970. */
  seconds: number
  /** Level of gzip, 1 to 9. */
  level: number
}

interface Blob {
  mediaType: string
  digest: string
  size: number
}

const MEDIA = 'application/vnd.oci.image'

/**
 * Writes an image to `file`. The bytes depend only on the contents and the given time. Besides the OCI layout, the archive
 * contains the `manifest.json` that older versions of `docker load` need. `draft` is a folder for intermediate files.
 */
export const writeImage = async (file: string, draft: string, options: ImageOptions): Promise<void> => {
  const { reference, architecture, layers, config, seconds, level } = options
  const dir = join(draft, 'image-layout')
  mkdirSync(join(dir, 'blobs/sha256'), { recursive: true })
  const created = new Date(seconds * 1000).toISOString()
  const addJson = (mediaType: string, value: unknown): Blob => {
    const text = JSON.stringify(value)
    const digest = createHash('sha256').update(text).digest('hex')
    writeFileSync(pathOf(dir, digest), text)
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) }
  }
  const blobs: Blob[] = []
  const tarDigests: string[] = []
  for (const layer of layers) {
    const { blob, tarDigest } = await addLayer(dir, layer, seconds, level)
    blobs.push(blob)
    tarDigests.push(`sha256:${tarDigest}`)
  }
  const configBlob = addJson(`${MEDIA}.config.v1+json`, {
    ...{ created, architecture, os: 'linux', config },
    rootfs: { type: 'layers', diff_ids: tarDigests },
    history: layers.map(({ title }) => ({ created, created_by: title })),
  })
  const mediaType = `${MEDIA}.manifest.v1+json`
  const manifest = addJson(mediaType, { schemaVersion: 2, mediaType, config: configBlob, layers: blobs })
  const index = {
    ...manifest,
    platform: { architecture, os: 'linux' },
    // podman and skopeo read the first name, containerd and Docker the second.
    annotations: {
      'org.opencontainers.image.ref.name': reference,
      'io.containerd.image.name': `docker.io/library/${reference}`,
    },
  }
  const write = (name: string, value: unknown) => writeFileSync(join(dir, name), JSON.stringify(value))
  write('oci-layout', { imageLayoutVersion: '1.0.0' })
  write('index.json', { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json`, manifests: [index] })
  const blobName = ({ digest }: Blob) => `blobs/sha256/${digest.slice(7)}`
  write('manifest.json', [{ Config: blobName(configBlob), RepoTags: [reference], Layers: blobs.map(blobName) }])
  const paths = ['blobs', 'index.json', 'manifest.json', 'oci-layout']
  const tar = startTar([...tarOptions(seconds), '-C', dir, '-c', ...paths])
  await Promise.all([tar.done, pipeline(tar.output, createWriteStream(file))])
  rmSync(dir, { recursive: true })
}

const pathOf = (dir: string, digest: string): string => join(dir, 'blobs/sha256', digest)

const addLayer = async (
  dir: string,
  { root, paths, exclude = [], owner = 0, mode }: Layer,
  seconds: number,
  level: number,
): Promise<{ blob: Blob; tarDigest: string }> => {
  const tar = startTar([
    ...tarOptions(seconds, owner, mode),
    ...['--anchored', ...exclude.map((path) => `--exclude=${path}`), '-C', root, '-c', ...paths],
  ])
  const [plain, packed] = [createHash('sha256'), createHash('sha256')]
  const draft = join(dir, 'draft')
  const steps = [tar.output, through(plain), createGzip({ level }), through(packed), createWriteStream(draft)] as const
  await Promise.all([tar.done, pipeline(...steps)])
  const digest = packed.digest('hex')
  const { size } = statSync(draft)
  renameSync(draft, pathOf(dir, digest))
  const mediaType = `${MEDIA}.layer.v1.tar+gzip`
  return { blob: { mediaType, digest: `sha256:${digest}`, size }, tarDigest: plain.digest('hex') }
}

const through = (hash: Hash): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
