import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKnowledge, type Knowledge, type KnowledgeSources } from '@portcullis/domain'

const readJson = async <T>(dir: string, file: string): Promise<T> => {
  const path = join(dir, file)
  const text = await readFile(path, 'utf8')
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new Error(`${path} is not valid JSON`, { cause })
  }
}

/** Reads the folder `knowledge/` and builds the knowledge from it: about 730 kB, about 50 ms once at start. */
export const loadKnowledge = async (dir: string): Promise<Knowledge> => {
  const [manifest, usbIds, attackTools, vulnerable, genuine, supplement, registries] = await Promise.all([
    readJson<{ version: string }>(dir, 'manifest.json'),
    // usb.ids is UTF-8 with a few invalid bytes, which become U+FFFD in a name.
    readFile(join(dir, 'usb.ids'), 'utf8'),
    readJson<KnowledgeSources['attackTools']>(dir, 'attack-tools.json'),
    readJson<KnowledgeSources['vulnerable']>(dir, 'vulnerable-peripherals.json'),
    readJson<KnowledgeSources['genuine']>(dir, 'genuine-descriptors.json'),
    readJson<KnowledgeSources['supplement']>(dir, 'vendor-supplement.json'),
    readJson<KnowledgeSources['registries']>(dir, 'registries.json'),
  ])
  return createKnowledge({
    version: manifest.version,
    usbIdsText: usbIds,
    attackTools,
    vulnerable,
    genuine,
    supplement,
    registries,
  })
}
