import type { Poll, PollPlatform, PollResult, PollStep, PollStepResult } from '@portcullis/contract/worker-protocol.ts'
import { cleanText, machineHash, POSIX_COMMAND, readPoll, WINDOWS_COMMAND } from '@portcullis/domain'
import { openSession, PollError, type Session } from './ssh.ts'

const outcomes: Readonly<Record<PollStep, string>> = {
  resolve: 'Resolved the host name.',
  connect: 'Connected to the port.',
  'host-key': 'Accepted the host key.',
  'sign-in': 'Signed in.',
  read: 'Read the attached devices.',
  understand: 'Parsed the output.',
}

/** Returns the commands to try in order until the output identifies a platform. */
const commandsFor = (platform: PollPlatform | null, isWindows: boolean): readonly string[] => {
  if (platform !== null) return [platform === 'windows' ? WINDOWS_COMMAND : POSIX_COMMAND]
  return isWindows ? [WINDOWS_COMMAND, POSIX_COMMAND] : [POSIX_COMMAND, WINDOWS_COMMAND]
}

/** Runs the commands until a platform is identified and parses the output. */
const readHost = async (poll: Poll, session: Session): Promise<ReturnType<typeof readPoll>> => {
  const [first, ...others] = commandsFor(poll.platform, session.isWindows)
  let found = readPoll((await session.run(first as string)).stdout)
  for (const command of others) if (found.platform === null) found = readPoll((await session.run(command)).stdout)
  return found
}

/** Polls one host within its limits. Never throws; the result contains the failure. */
export const pollHost = async (
  poll: Poll,
  onStep: (step: PollStep, done: readonly PollStepResult[]) => void,
  stop: AbortSignal,
): Promise<PollResult> => {
  const startedAt = performance.now()
  const steps: PollStepResult[] = []
  let step: PollStep = 'resolve'
  let stepAt = startedAt
  function finish(ok: boolean, message: string): void {
    steps.push({ step, ok, ms: Math.round(performance.now() - stepAt), message: cleanText(message, 500) })
  }
  function begin(next: PollStep): void {
    if (next !== step) finish(true, outcomes[step])
    step = next
    stepAt = performance.now()
    onStep(next, steps)
  }
  const late = new PollError('read-timeout')
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(late), poll.limits.totalMs)
  const end = (): void => control.abort(new PollError('stopped'))
  stop.addEventListener('abort', end, { once: true })
  let session: Session | undefined
  let hostKeyFingerprint: string | null = null
  let platform: PollPlatform | null = null
  const result = (
    rest: Pick<PollResult, 'failure' | 'message' | 'facts' | 'devices' | 'machineIdHash'>,
  ): PollResult => ({
    id: poll.id,
    fence: poll.fence,
    durationMs: Math.round(performance.now() - startedAt),
    hostKeyFingerprint,
    platform,
    steps,
    ...rest,
  })
  try {
    if (stop.aborted) throw new PollError('stopped')
    session = await openSession({
      poll,
      onStep: begin,
      onHostKey: (fingerprint) => {
        hostKeyFingerprint = fingerprint
      },
      signal: control.signal,
    })
    begin('read')
    const { platform: system, reading } = await readHost(poll, session)
    begin('understand')
    platform = system
    if (!reading.ok) throw new PollError(reading.failure, reading.message)
    finish(true, `${reading.devices.length} ${reading.devices.length === 1 ? 'device' : 'devices'}`)
    const facts = { ...reading.facts, address: reading.facts.address || session.address }
    return result({
      failure: null,
      message: '',
      facts,
      devices: reading.devices,
      machineIdHash: machineHash(reading.machineId),
    })
  } catch (error) {
    const known = error instanceof PollError ? error : new PollError('connection-lost', (error as Error).message)
    const message = cleanText(known.message, 500)
    finish(false, message)
    return result({ failure: known.failure, message, facts: null, devices: [], machineIdHash: null })
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
    session?.close()
  }
}
