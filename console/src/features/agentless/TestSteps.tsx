import { type ConnectionTest, pollSteps } from '@portcullis/contract'
import { useEffect, useRef } from 'react'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { StepList, type StepView } from '../../ui/steps/StepList.tsx'
import classes from './agentless.module.css'
import { durationText, platformWords, stepWords } from './labels.ts'
import { strings } from './strings.ts'

const stepViews = (test: ConnectionTest): StepView[] =>
  pollSteps.map((step) => {
    const result = test.steps.find((one) => one.step === step)
    if (result !== undefined)
      return {
        key: step,
        words: stepWords[step],
        state: result.ok ? 'done' : 'failed',
        seen: result.message,
        aside: durationText(result.ms),
      }
    return test.step === step
      ? { key: step, words: `${stepWords[step]}…`, state: 'running' }
      : { key: step, words: stepWords[step], state: 'open', aside: test.state === 'done' ? 'not reached' : '' }
  })

const Outcome = ({ test, isPolling }: { test: ConnectionTest; isPolling: boolean }) => {
  if (test.state === 'waiting')
    return (
      <p className={classes.text}>{isPolling ? strings.waitsForTheWorker : strings.waitsNoWorkerIsActiveActivate}</p>
    )
  if (test.state === 'running') return <p className={classes.text}>{strings.theWorkerTriesIt}</p>
  if (test.ok !== true)
    return (
      <p className={classes.outcome}>
        <SeverityShape severity="amber" />
        <span>
          <strong>
            <DeviceText value={test.message} />
          </strong>
          <br />
          {test.cure}
        </span>
      </p>
    )
  const more = test.peripheralsCount - test.devices.length
  return (
    <>
      <p className={classes.text}>
        <strong>{strings.itWorks}</strong> <DeviceText value={test.hostname} />
        {test.platform === null ? '' : `, ${platformWords[test.platform]}`},{' '}
        {test.peripheralsCount.toLocaleString('en')} {test.peripheralsCount === 1 ? 'device' : 'devices'}
      </p>
      {test.devices.length === 0 ? null : (
        <ul className={classes.devices}>
          {test.devices.map((device, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two devices can say the same of themselves, and none moves
            <li key={index}>
              <code>
                {device.vid}:{device.pid}
              </code>{' '}
              <DeviceText value={device.name} />
            </li>
          ))}
          {more > 0 ? <li>{strings.andMoreMore({ more })}</li> : null}
        </ul>
      )}
    </>
  )
}

export interface TestStepsProps {
  test: ConnectionTest
  /** A worker is active, so that a waiting test is about to begin. */
  isPolling: boolean
}

/** A test as it went: each step with its time and what was seen, then the outcome and the cure. */
export const TestSteps = ({ test, isPolling }: TestStepsProps) => {
  const section = useRef<HTMLElement>(null)
  // It stands below a long form: whoever asked for it sees it begin and end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new state may have grown beyond what is seen
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' })
  }, [test.id, test.state])
  return (
    <section
      ref={section}
      className={classes.test}
      aria-label={strings.test}
      aria-live="polite"
      aria-busy={test.state !== 'done'}
    >
      <StepList steps={stepViews(test)} />
      <Outcome test={test} isPolling={isPolling} />
      {test.hostKeyFingerprint === null ? null : (
        <p className={classes.quiet}>{strings.hostKeyCode({ code: <code>{test.hostKeyFingerprint}</code> })}</p>
      )}
    </section>
  )
}
