import type { AssetMessage } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Messages of a body of NDJSON, newest first; empty lines are none. */
export const newestFirst = (text: string): AssetMessage[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as AssetMessage)
    .reverse()

export const typeWords: Readonly<Record<AssetMessage['type'], string>> = {
  'asset.upserted': strings.addedOrChanged,
  'asset.removed': strings.removed,
  'asset.location.previous': strings.placeThatWasLeft,
  'replay.started': strings.replayBegan,
  'replay.completed': strings.replayEnded,
}

/** What a message is about, for people: the name or product, else the subject. */
export const aboutOf = ({ data, subject }: AssetMessage): string => {
  if ('hostIdentifier' in data) return data.hostIdentifier
  if ('product' in data) return data.product === '' ? data.deviceID : data.product
  return subject
}

/** How far behind somebody is. */
export const lagText = (lag: number): string => (lag === 0 ? 'up to date' : strings.lagOtherPlacesBehind({ lag }))
