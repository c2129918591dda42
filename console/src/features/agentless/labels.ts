import type { connectionPlatforms, PollStep } from '@portcullis/contract'

export const platformWords: Readonly<Record<(typeof connectionPlatforms)[number], string>> = {
  auto: 'Find out',
  linux: 'Linux',
  macos: 'macOS',
  windows: 'Windows',
}

/** The steps of a poll, as a person would call them. */
export const stepWords: Readonly<Record<PollStep, string>> = {
  resolve: 'Look the name up',
  connect: 'Connect',
  'host-key': 'Check the host key',
  'sign-in': 'Sign in',
  read: 'Read the devices',
  understand: 'Understand what was read',
}

/** Milliseconds to the precision that matters. */
export const durationText = (ms: number | null): string =>
  ms === null ? '–' : ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
