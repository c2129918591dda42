import { messages } from '@portcullis/platform/console/lib/messages.ts'
import type { AssetMessage } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Returns the messages of an NDJSON body, newest first. Skips empty lines. */
export const newestFirst = (text: string): AssetMessage[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as AssetMessage)
    .reverse()

export const typeLabels: Readonly<Record<AssetMessage['type'], string>> = messages({
  'asset.upserted': 'Added or changed',
  'asset.removed': 'Removed',
  'asset.location.previous': 'Previous location',
  'replay.started': 'Replay started',
  'replay.completed': 'Replay completed',
})

/** Returns the object of a message: a host name or product, else the subject. */
export const aboutOf = ({ data, subject }: AssetMessage): string => {
  if ('hostIdentifier' in data) return data.hostIdentifier
  if ('product' in data) return data.product === '' ? data.deviceID : data.product
  return subject
}

/** Describes the lag of a consumer. */
export const lagText = (lag: number): string => (lag === 0 ? strings.streamUpToDate : strings.behind({ lag }))
