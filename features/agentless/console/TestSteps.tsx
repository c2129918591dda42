import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { StepList, type StepView } from '@portcullis/platform/console/ui/steps/StepList.tsx'
import { useEffect, useRef } from 'react'
import { type ConnectionTest, pollSteps } from '#features/contract.ts'
import { durationText, platformLabels, stepLabels } from './labels.ts'
import { strings } from './strings.ts'

const stepViews = (test: ConnectionTest): StepView[] =>
  pollSteps.map((step) => {
    const result = test.steps.find((one) => one.step === step)
    if (result !== undefined)
      return {
        key: step,
        words: stepLabels[step],
        state: result.ok ? 'done' : 'failed',
        seen: result.message,
        aside: durationText(result.ms),
      }
    return test.step === step
      ? { key: step, words: `${stepLabels[step]}…`, state: 'running' }
      : { key: step, words: stepLabels[step], state: 'open', aside: test.state === 'done' ? strings.notReached : '' }
  })

const Outcome = ({ test, isPolling }: { test: ConnectionTest; isPolling: boolean }) => {
  if (test.state === 'waiting') return <Text as="p">{isPolling ? strings.testWaiting : strings.testNoWorker}</Text>
  if (test.state === 'running') return <Text as="p">{strings.testRunning}</Text>
  if (test.ok !== true)
    return (
      <SeverityLine severity="amber">
        <span>
          <strong>
            <DeviceText value={test.message} />
          </strong>
          <br />
          {test.cure}
        </span>
      </SeverityLine>
    )
  const more = test.peripheralsCount - test.devices.length
  return (
    <>
      <Text as="p">
        <strong>{strings.testPassed}</strong> <DeviceText value={test.hostname} />
        {test.platform === null ? '' : `, ${platformLabels[test.platform]}`},{' '}
        {strings.deviceCount({ count: test.peripheralsCount })}
      </Text>
      {test.devices.length === 0 ? null : (
        <Stack as="ul" gap={0} scroll small style={{ maxHeight: 160 }}>
          {test.devices.map((device, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two devices may look the same, and none moves
            <li key={index}>
              <code>
                {device.vid}:{device.pid}
              </code>{' '}
              <DeviceText value={device.name} />
            </li>
          ))}
          {more > 0 ? <li>{strings.andMore({ count: more })}</li> : null}
        </Stack>
      )}
    </>
  )
}

export interface TestStepsProps {
  test: ConnectionTest
  /** A worker is active, so a waiting test starts soon. */
  isPolling: boolean
}

/** The progress of a test: each step with its time and result, then the outcome and the cure. */
export const TestSteps = ({ test, isPolling }: TestStepsProps) => {
  const section = useRef<HTMLElement>(null)
  // The test is below a long form, so it scrolls into view when it starts and ends.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new state may extend below the visible part
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' })
  }, [test.id, test.state])
  return (
    <Stack
      ref={section}
      as="section"
      gap={10}
      pad={12}
      breaks
      style={{ border: '1px solid var(--pc-line)', borderRadius: 6 }}
      aria-label={strings.test}
      aria-live="polite"
      aria-busy={test.state !== 'done'}
    >
      <StepList steps={stepViews(test)} />
      <Outcome test={test} isPolling={isPolling} />
      {test.hostKeyFingerprint === null ? null : (
        <Note breaks>{strings.hostKeyShown({ key: <code>{test.hostKeyFingerprint}</code> })}</Note>
      )}
    </Stack>
  )
}
