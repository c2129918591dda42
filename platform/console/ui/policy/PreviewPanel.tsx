import type { PolicyDraft } from '@portcullis/contract'
import { useState } from 'react'
import { deviceAddress } from '../../lib/addresses.ts'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { Icon, kindIcon } from '../icons.tsx'
import { Note, Text } from '../layout/layout.tsx'
import { PlainLink } from '../PlainLink.tsx'
import { SeverityShape, SeverityTag } from '../SeverityTag.tsx'
import { basisText, openedText, type Preview, previewSentence, unarmedText, worksAgainText } from './labels.ts'
import classes from './policy.module.css'
import { strings } from './strings.ts'
import { usePreview } from './usePreview.ts'

const shownAtFirst = 5

const Effects = ({ preview }: { preview: Preview }) => {
  const [all, setAll] = useState(false)
  const shown = all ? preview.effects : preview.effects.slice(0, shownAtFirst)
  if (shown.length === 0) return null
  return (
    <>
      <ul className={classes.effects}>
        {shown.map((effect) => (
          <li key={`${effect.uuid}|${effect.deviceID}`} data-stops={effect.after === 'block' || undefined}>
            <Icon name={kindIcon(effect.devIcon)} size={14} />
            <Text breaks>
              {effect.isKnownAttackTool ? (
                <>
                  <SeverityTag severity="red" word={strings.attackTool} />{' '}
                </>
              ) : null}
              <PlainLink href={deviceAddress(effect.uuid, effect.deviceID)}>
                <DeviceText value={effect.caption || `${effect.vid}:${effect.pid}`} />
              </PlainLink>
            </Text>
            <Text breaks>{strings.onHost({ host: <DeviceText key="host" value={effect.hostIdentifier} /> })}</Text>
            <span>
              {effect.after === 'allow'
                ? strings.willBeAllowed
                : effect.present && effect.armed
                  ? strings.stopsWorkingNow
                  : effect.armed
                    ? strings.willBeBlocked
                    : strings.blockedOnceArmed}
            </span>
          </li>
        ))}
      </ul>
      {preview.effects.length > shown.length ? (
        <button type="button" className={classes.linkButton} onClick={() => setAll(true)}>
          {preview.peripherals > preview.effects.length
            ? strings.showFirst({ shown: preview.effects.length, count: preview.peripherals })
            : strings.showAll({ count: preview.peripherals })}
        </button>
      ) : null}
    </>
  )
}

/** Shows what a change of the rules would do: summary, warnings, then the devices. */
export const PreviewPanel = ({ draft, waiting }: { draft: PolicyDraft | null; waiting: string }) => {
  const { preview, failure, isStale, retry } = usePreview(draft)
  if (failure !== null) return <ErrorState failure={failure} retry={retry} inline />
  const sentence = preview === undefined ? null : previewSentence(preview)
  const unarmed = preview === undefined ? null : unarmedText(preview)
  // The sentence already counts devices that become allowed.
  const again =
    preview === undefined ? null : preview.allowed === 0 ? openedText(preview) : worksAgainText(preview.worksAgain)
  return (
    <output className={classes.preview} aria-live="polite" data-stale={isStale || undefined} data-testid="preview">
      {preview === undefined || sentence === null ? (
        <Note>{draft === null ? waiting : strings.loading}</Note>
      ) : (
        <>
          <p className={classes.sentence}>
            <SeverityShape severity={sentence.severity} />
            <strong>{sentence.text}</strong>
          </p>
          {unarmed === null ? null : (
            <p className={classes.sentence} data-testid="unarmed">
              <SeverityShape severity="amber" />
              <span>{unarmed}</span>
            </p>
          )}
          {again === null ? null : (
            <p className={classes.sentence} data-testid="works-again">
              <SeverityShape severity={again.severity} />
              <strong>{again.text}</strong>
            </p>
          )}
          {preview.warnings.length === 0 ? null : (
            <ul className={classes.warnings}>
              {preview.warnings.map(({ code, text, ruleId }) => (
                <li key={`${code}${ruleId}`}>
                  <SeverityShape severity="amber" />
                  <span>
                    <DeviceText value={text} />{' '}
                    {ruleId === null ? null : (
                      <a href={`/policy?open=${encodeURIComponent(ruleId)}`} target="_blank" rel="noreferrer">
                        {strings.openRule}
                      </a>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )}
          {preview.secondPerson ? (
            <p className={classes.sentence} data-testid="second-approver">
              <SeverityShape severity="amber" />
              <span>{strings.needsApprover}</span>
            </p>
          ) : null}
          <Effects preview={preview} />
          <Note>{basisText(preview.prediction)}</Note>
        </>
      )}
    </output>
  )
}
