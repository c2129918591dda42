import { messages } from '@portcullis/platform/console/lib/messages.ts'
import type { Connection, connectionPlatforms, PollStep } from '#features/contract.ts'
import { strings } from './strings.ts'

export const platformLabels: Readonly<Record<(typeof connectionPlatforms)[number], string>> = {
  auto: strings.platformAuto,
  linux: strings.linux,
  macos: 'macOS',
  windows: strings.windows,
}

export const keyTrustLabels: Readonly<Record<Connection['hostKeyTrust'], string>> = messages({
  None: 'Not pinned',
  FirstUse: 'Trusted on first use',
  Confirmed: 'Confirmed',
})

/** Names of the steps of a poll. */
export const stepLabels: Readonly<Record<PollStep, string>> = {
  resolve: strings.stepResolve,
  connect: strings.stepConnect,
  'host-key': strings.stepHostKey,
  'sign-in': strings.signIn,
  read: strings.stepRead,
  understand: strings.stepUnderstand,
}

/** Returns a duration, in milliseconds or in seconds with one decimal. */
export const durationText = (ms: number | null): string =>
  ms === null
    ? '–'
    : ms < 1_000
      ? strings.milliseconds({ ms })
      : `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
