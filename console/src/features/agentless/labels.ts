import type { connectionPlatforms, PollStep } from '@portcullis/contract'
import { strings } from './strings.ts'

export const platformWords: Readonly<Record<(typeof connectionPlatforms)[number], string>> = {
  auto: strings.findOut,
  linux: strings.linux,
  macos: 'macOS',
  windows: strings.windows,
}

/** The steps of a poll, as a person would call them. */
export const stepWords: Readonly<Record<PollStep, string>> = {
  resolve: strings.lookTheNameUp,
  connect: strings.connect,
  'host-key': strings.checkTheHostKey,
  'sign-in': strings.signIn,
  read: strings.readTheDevices,
  understand: strings.understandWhatWasRead,
}

/** Milliseconds to the precision that matters. */
export const durationText = (ms: number | null): string =>
  ms === null
    ? '–'
    : ms < 1_000
      ? strings.msMs({ ms })
      : `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
