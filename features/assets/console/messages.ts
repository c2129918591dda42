import type { AssetMessage } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Returns the messages of an NDJSON body, newest first. Skips empty lines. */
export const newestFirst = (text: string): AssetMessage[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as AssetMessage)
    .reverse()

export const typeLabels: Readonly<Record<AssetMessage['type'], string>> = {
  'asset.upserted': strings.addedOrChanged,
  'asset.removed': strings.removed,
  'asset.location.previous': strings.previousLocation,
  'replay.started': strings.replayStartedType,
  'replay.completed': strings.replayCompletedType,
}

/** Returns the object of a message: a host name or product, else the subject. */
export const aboutOf = ({ data, subject }: AssetMessage): string => {
  if ('hostIdentifier' in data) return data.hostIdentifier
  if ('product' in data) return data.product === '' ? data.deviceID : data.product
  return subject
}

/** Describes the lag of a consumer. */
export const lagText = (lag: number): string => (lag === 0 ? strings.streamUpToDate : strings.behind({ lag }))
